// OpenAI’s images: what is asked for, and what its refusals mean.
import { expect } from 'chai';
import { createOpenaiImages } from '../../../providers/openai/images.ts';
import { describeVendor } from '../describe-vendor.ts';
import { failureOf, imageJob, PNG, sendJson, verdictOf } from '../stand-in.ts';
import { deliver, ITEM } from './images-support.ts';

const DATA_URI = `data:image/png;base64,${PNG.toString('base64')}`;

describeVendor('OpenAI images', { create: createOpenaiImages, path: '/v1' }, (vendor) => {
  describe('submit', () => {
    it('without input images gets one JSON request in concrete values', async () => {
      deliver(vendor, ITEM, ITEM);
      const order = { ...imageJob().order, images: 2, resolution: '2K', ratio: '16:9' };
      await vendor.provider.submit(imageJob({ order }));
      const { method, path, headers, body } = vendor.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal(['POST', '/v1/images/generations']);
      expect(headers?.authorization).to.equal('Bearer sk-first');
      expect(JSON.parse(String(body))).to.deep.equal({
        model: 'gpt-image-2.5-flare',
        prompt: 'a cat',
        n: 2,
        size: '2704x1520',
        quality: 'low',
        output_format: 'png',
      });
    });

    it('has the quality that was ordered, where the model has a choice', async () => {
      deliver(vendor, ITEM);
      await vendor.provider.submit(imageJob({ order: { ...imageJob().order, quality: 'medium' } }));
      expect(JSON.parse(String(vendor.received.at(-1)?.body))).to.include({ quality: 'medium' });
    });

    it('with input images gets a form with one file each', async () => {
      deliver(vendor, ITEM);
      await vendor.provider.submit(imageJob({ inputImages: [DATA_URI, DATA_URI] }));
      const { path, headers, body } = vendor.received.at(-1) ?? {};
      expect(path).to.equal('/v1/images/edits');
      expect(headers?.['content-type']).to.match(/^multipart\/form-data; boundary=/);
      const form = await new Response(new Uint8Array(body ?? []), {
        headers: { 'content-type': headers?.['content-type'] ?? '' },
      }).formData();
      const files = form.getAll('image[]').filter((value) => value instanceof File);
      expect(files.map(({ name, type, size }) => [name, type, size])).to.deep.equal([
        ['image-1.png', 'image/png', PNG.length],
        ['image-2.png', 'image/png', PNG.length],
      ]);
      expect(
        Object.fromEntries(['model', 'prompt', 'n', 'size'].map((name) => [name, form.get(name)])),
      ).to.deep.equal({
        model: 'gpt-image-2.5-flare',
        prompt: 'a cat',
        n: '1',
        size: '1024x1024',
      });
    });

    it('takes an input image whose scheme is in capitals, as the API does', async () => {
      deliver(vendor, ITEM);
      await vendor.provider.submit(imageJob({ inputImages: [DATA_URI.replace('data:', 'DATA:')] }));
      expect(vendor.received.at(-1)?.path).to.equal('/v1/images/edits');
    });

    const bad: Record<string, string> = {
      'that are no pictures': `data:image/png;base64,${Buffer.from('<html>').toString('base64')}`,
      'that are not base64': 'data:image/png,hello',
      'at a private address': 'https://169.254.169.254/latest/meta-data/',
      'at the operator’s own origin': 'OWN',
      'without TLS': 'http://example.com/a.png',
    };
    for (const [which, image] of Object.entries(bad)) {
      it(`refuses input images ${which}, before the vendor hears of it`, async () => {
        const before = vendor.connections();
        const url = image === 'OWN' ? `${vendor.url}/a.png` : image;
        const failure = await failureOf(vendor.provider.submit(imageJob({ inputImages: [DATA_URI, url] })));
        const errorClass = image.startsWith('data:') ? 'input_unreadable' : 'input_refused';
        expect(verdictOf(failure)).to.equal(`${errorClass}, refused`);
        expect(failure.text).to.match(
          /^Input image 2 (could not be fetched|is not a PNG, JPEG or WebP file)\.$/,
        );
        expect(vendor.connections()).to.equal(before);
      });
    }

    it('refuses a size that is not offered', async () => {
      const order = { ...imageJob().order, ratio: '5:2' };
      expect(verdictOf(await failureOf(vendor.provider.submit(imageJob({ order }))))).to.equal(
        'invalid, refused',
      );
    });
  });

  describe('submit, refused', () => {
    interface Case {
      title: string;
      status: number;
      error: Record<string, unknown>;
      verdict: string;
    }
    const cases: Case[] = [
      {
        title: 'a moderated prompt',
        status: 400,
        error: {
          message: 'Your request was rejected by the safety system.',
          type: 'image_generation_user_error',
          param: null,
          code: 'moderation_blocked',
          moderation_details: { moderation_stage: 'input', categories: ['violence'] },
        },
        verdict: 'moderation, refused',
      },
      {
        title: 'a prompt by the older code',
        status: 400,
        error: { message: 'no', type: 'invalid_request_error', code: 'content_policy_violation' },
        verdict: 'moderation, refused',
      },
      {
        title: 'a used-up account',
        status: 429,
        error: {
          message: 'You exceeded your current quota.',
          type: 'insufficient_quota',
          code: 'insufficient_quota',
        },
        verdict: 'quota, not_received',
      },
      {
        title: 'an account at its hard limit',
        status: 400,
        error: { message: 'no', type: 'invalid_request_error', code: 'billing_hard_limit_reached' },
        verdict: 'quota, not_received',
      },
      {
        title: 'too many requests',
        status: 429,
        error: { message: 'Rate limit reached.', type: 'requests', code: 'rate_limit_exceeded' },
        verdict: 'rate, not_received',
      },
      {
        title: 'a retired model',
        status: 404,
        error: {
          message: 'The model does not exist.',
          type: 'invalid_request_error',
          code: 'model_not_found',
        },
        verdict: 'model_retired, refused',
      },
      {
        title: 'a wrong key',
        status: 401,
        error: { message: 'Incorrect API key.', type: 'invalid_request_error', code: 'invalid_api_key' },
        verdict: 'auth, not_received',
      },
      {
        title: 'a wrong field',
        status: 400,
        error: {
          message: 'Invalid size.',
          type: 'invalid_request_error',
          param: 'size',
          code: 'invalid_value',
        },
        verdict: 'invalid, refused',
      },
      {
        title: 'because it broke down',
        status: 500,
        error: { message: 'The server had an error.', type: 'server_error', param: null, code: null },
        verdict: 'transient, refused',
      },
      {
        title: 'with status 200, as some compatible services do',
        status: 200,
        error: { message: 'no', type: 'x', code: 'moderation_blocked' },
        verdict: 'moderation, refused',
      },
      {
        title: 'with status 200 in unknown words',
        status: 200,
        error: { message: 'no', type: 'x', code: 'y' },
        verdict: 'invalid_response, refused',
      },
    ];
    for (const { title, status, error, verdict } of cases) {
      it(`${title} is ${verdict}`, async () => {
        vendor.play = (res) => sendJson(res, status, { error });
        const failure = await failureOf(vendor.provider.submit(imageJob()));
        expect(verdictOf(failure)).to.equal(verdict);
        expect(failure.text).to.equal(error['message']);
      });
    }

    it('leaves a gateway’s 502 without words as unknown', async () => {
      vendor.play = (res) => res.writeHead(502).end('<html>Bad gateway</html>');
      const failure = await failureOf(vendor.provider.submit(imageJob()));
      expect([verdictOf(failure), failure.text]).to.deep.equal(['transient, unknown', null]);
    });
  });

  it('closes the connection when the caller aborts, since then nobody will get the pictures', async () => {
    const controller = new AbortController();
    const closed = new Promise((resolve) => {
      vendor.play = (res) => {
        res.once('close', resolve);
        controller.abort();
      };
    });
    await failureOf(vendor.provider.submit(imageJob(), controller.signal));
    await closed;
  });
});
