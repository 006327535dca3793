// OpenAI's images: what is asked for, which pictures count, and what its refusals mean.
import { expect } from 'chai';
import { createOpenaiImages } from '../../../providers/openai/images.ts';
import { RATIOS, RESOLUTIONS, sizeOf } from '../../../providers/openai/image-sizes.ts';
import type { Submission } from '../../../providers/provider.ts';
import { describeVendor } from '../describe-vendor.ts';
import { failureOf, imageJob, PNG, sendEndlessly, sendJson, verdictOf } from '../stand-in.ts';

const DATA_URI = `data:image/png;base64,${PNG.toString('base64')}`;
const ITEM = { b64_json: PNG.toString('base64') };

describeVendor('OpenAI images', { create: createOpenaiImages, path: '/v1' }, (vendor) => {
  function deliver(...data: unknown[]): void {
    vendor.play = (res) =>
      sendJson(res, 200, { created: 1, data, usage: { total_tokens: 1 } }, { 'x-request-id': 'req_1' });
  }

  async function finished(job = imageJob()): Promise<Extract<Submission, { kind: 'finished' }>> {
    const submission = await vendor.provider.submit(job);
    if (submission.kind !== 'finished') throw new Error(`submission is ${submission.kind}`);
    return submission;
  }

  describe('submit', () => {
    it('without input images gets one JSON request in concrete values', async () => {
      deliver(ITEM, ITEM);
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

    it('with input images gets a form with one file each', async () => {
      deliver(ITEM);
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

  describe('answering', () => {
    it('delivers the pictures as bytes, and counts them', async () => {
      deliver(ITEM, ITEM);
      const { results, evidence, upstreamRequestId } = await finished(imageJob({ images: 2 }));
      expect(results).to.deep.equal([
        { kind: 'inline', bytes: PNG },
        { kind: 'inline', bytes: PNG },
      ]);
      expect(evidence).to.deep.equal({ images: 2 });
      expect(upstreamRequestId).to.equal('req_1');
    });
  });

  it('knows its own origin', () => {
    expect(vendor.provider.trustsOrigin(new URL(`${vendor.url}/files/1`))).to.equal(true);
    expect(vendor.provider.trustsOrigin(new URL('http://127.0.0.1:1/'))).to.equal(false);
  });

  describe('sizes', () => {
    for (const ratio of RATIOS) {
      it(`of ${ratio} keep the vendor’s limits and nearly the ratio`, () => {
        for (const resolution of RESOLUTIONS) {
          const [width = 0, height = 0] = (sizeOf(ratio, resolution) ?? '').split('x').map(Number);
          const [across = 0, down = 0] = ratio.split(':').map(Number);
          expect([width % 16, height % 16], resolution).to.deep.equal([0, 0]);
          expect(Math.max(width, height), resolution).to.be.at.most(3_840);
          expect(Math.max(width, height) / Math.min(width, height), resolution).to.be.at.most(3);
          expect(width * height, resolution).to.be.within(655_360, 8_294_400);
          expect(width / height, resolution).to.be.closeTo(across / down, (across / down) * 0.02);
        }
      });
    }

    it('are thirteen ratios, growing with the resolution', () => {
      expect(RATIOS.length).to.equal(13);
      const pixels = (size: string | null): number =>
        (size ?? '')
          .split('x')
          .map(Number)
          .reduce((a, b) => a * b, 1);
      for (const ratio of RATIOS) {
        const [small = 0, middle = 0, large = 0] = RESOLUTIONS.map((resolution) =>
          pixels(sizeOf(ratio, resolution)),
        );
        expect(middle / small, ratio).to.be.within(3.7, 4.2);
        expect(large, ratio).to.be.above(middle);
      }
    });
  });

  describe('when fewer, more or other things come', () => {
    it('pays only for what arrived', async () => {
      deliver(ITEM);
      expect((await finished(imageJob({ images: 4 }))).evidence).to.deep.equal({ images: 1 });
    });

    it('keeps no more than was ordered', async () => {
      deliver(ITEM, ITEM, ITEM);
      const { results, evidence } = await finished(imageJob({ images: 2 }));
      expect([results.length, evidence.images]).to.deep.equal([2, 2]);
    });

    it('does not count items that are no pictures', async () => {
      const half = PNG.subarray(0, 40).toString('base64');
      const html = Buffer.from('<html>').toString('base64');
      deliver(
        {},
        null,
        'x',
        { b64_json: 7 },
        { b64_json: '' },
        { b64_json: '***' },
        { b64_json: half },
        { b64_json: html },
        ITEM,
      );
      expect((await finished(imageJob({ images: 10 }))).evidence).to.deep.equal({ images: 1 });
    });

    for (const json of [
      {},
      [],
      null,
      'x',
      { data: null },
      { data: [] },
      { data: [{ url: 'https://x.example/a.png' }] },
    ]) {
      it(`has no answer in ${JSON.stringify(json)}`, async () => {
        vendor.play = (res) => sendJson(res, 200, json, { 'x-request-id': 'req_2' });
        const failure = await failureOf(vendor.provider.submit(imageJob()));
        expect(verdictOf(failure)).to.equal('invalid_response, refused');
        expect(failure.upstreamRequestId).to.equal('req_2');
      });
    }
  });

  it('stops reading an answer that grows beyond what the pictures can be', async () => {
    const closed = new Promise((resolve) => {
      vendor.play = (res) => {
        res.once('close', resolve);
        sendEndlessly(res.writeHead(200));
      };
    });
    expect(verdictOf(await failureOf(vendor.provider.submit(imageJob())))).to.equal(
      'invalid_response, unknown',
    );
    await closed;
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
