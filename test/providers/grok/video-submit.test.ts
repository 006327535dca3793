// Grok videos: what is asked for, and what refusals mean.
import { expect } from 'chai';
import type { ImageRole } from '../../../domain/catalog/catalog.ts';
import { createGrokVideo } from '../../../providers/grok/video.ts';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { describeVendor, itNeedsAnId } from '../describe-vendor.ts';
import { failureOf, sendJson, verdictOf, videoJob } from '../stand-in.ts';

const DATA_URI = 'data:image/png;base64,AAAA';

describeVendor('Grok videos', { create: createGrokVideo, path: '/v1' }, (vendor) => {
  describe('submit', () => {
    async function sent(job: UpstreamJob): Promise<unknown> {
      vendor.play = (res) => sendJson(res, 200, { request_id: 'r-1' });
      await vendor.provider.submit(job);
      return JSON.parse(String(vendor.received.at(-1)?.body));
    }

    it('is asked for in concrete values with the first credential', async () => {
      expect(await sent(videoJob())).to.deep.equal({
        model: 'grok-imagine-video',
        prompt: 'a cat that runs',
        duration: 5,
        resolution: '480p',
        aspect_ratio: '16:9',
      });
      const { method, path, headers } = vendor.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal(['POST', '/v1/videos/generations']);
      expect(headers?.authorization).to.equal('Bearer sk-first');
    });

    function withImages(imageRole: ImageRole, inputImages: string[]): UpstreamJob {
      return videoJob({ inputImages, order: { ...videoJob().order, imageRole } });
    }

    it('has one input image as its first frame, which also gives the ratio', async () => {
      const body = await sent(withImages('first_frame', [DATA_URI]));
      expect(body).to.deep.include({ image: { url: DATA_URI } });
      expect(body).to.not.have.any.keys('aspect_ratio', 'reference_images', 'last_frame');
    });

    it('has a first and a last frame', async () => {
      const body = await sent(withImages('first_and_last_frame', [DATA_URI, 'https://example.com/a.png']));
      expect(body).to.deep.include({
        image: { url: DATA_URI },
        last_frame: { url: 'https://example.com/a.png' },
      });
      expect(body).to.not.have.any.keys('aspect_ratio', 'reference_images');
    });

    it('has a last frame alone, whose video keeps the ratio that was ordered', async () => {
      const body = await sent(withImages('last_frame', [DATA_URI]));
      expect(body).to.deep.include({ last_frame: { url: DATA_URI }, aspect_ratio: '16:9' });
      expect(body).to.not.have.any.keys('image', 'reference_images');
    });

    it('has a first frame beside references', async () => {
      const images = ['https://example.com/first.png', DATA_URI, 'https://example.com/a.png'];
      const body = await sent(withImages('first_frame_and_references', images));
      expect(body).to.deep.include({
        image: { url: 'https://example.com/first.png' },
        reference_images: [{ url: DATA_URI }, { url: 'https://example.com/a.png' }],
      });
      expect(body).to.not.have.any.keys('aspect_ratio', 'last_frame');
    });

    for (const images of [[DATA_URI], [DATA_URI, 'https://example.com/a.png']]) {
      it(`has ${images.length} input images as references`, async () => {
        const body = await sent(withImages('references', images));
        expect(body).to.deep.include({
          reference_images: images.map((url) => ({ url })),
          aspect_ratio: '16:9',
        });
        expect(body).to.not.have.any.keys('image', 'last_frame');
      });
    }

    it('says whether sound is wanted where the order says it', async () => {
      expect(await sent(videoJob({ order: { ...videoJob().order, audio: false } }))).to.include({
        generate_audio: false,
      });
    });

    it('answers with a handle without secrets', async () => {
      vendor.play = (res) => sendJson(res, 200, { request_id: 'r-1' }, { 'x-request-id': 'req_1' });
      expect(await vendor.provider.submit(videoJob())).to.deep.equal({
        kind: 'accepted',
        handle: { id: 'r-1', credential: 'default' },
        upstreamRequestId: 'req_1',
      });
    });

    it('is not aborted half way, which would leave a job that nobody knows', async () => {
      const controller = new AbortController();
      vendor.play = (res) => {
        controller.abort();
        sendJson(res, 200, { request_id: 'r-1' });
      };
      expect((await vendor.provider.submit(videoJob(), controller.signal)).kind).to.equal('accepted');
    });

    itNeedsAnId(vendor, videoJob(), [
      {},
      null,
      [],
      'x',
      { request_id: '' },
      { request_id: null },
      { id: 'x' },
    ]);
  });

  describe('submit, refused', () => {
    interface Case {
      status: number;
      body: unknown;
      verdict: string;
      text: string;
    }
    const cases: Record<string, Case> = {
      'in the detailed shape': {
        status: 400,
        body: { error: { message: 'Bad duration.', type: 'x', param: 'duration', code: 'invalid_argument' } },
        verdict: 'invalid, refused',
        text: 'Bad duration.',
      },
      'in the coded shape': {
        status: 422,
        body: { code: 'Client specified an invalid argument', error: 'Bad duration.' },
        verdict: 'invalid, refused',
        text: 'Bad duration.',
      },
      'in the bare shape': {
        status: 503,
        body: { error: 'The service is currently unavailable.' },
        verdict: 'transient, not_received',
        text: 'The service is currently unavailable.',
      },
      'for a wrong key, which comes as 400': {
        status: 400,
        body: { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***ey.' },
        verdict: 'auth, not_received',
        text: 'Incorrect API key provided: xa***ey.',
      },
      'for want of money, which comes as 403': {
        status: 403,
        body: {
          code: 'The caller does not have permission',
          error: "Your team doesn't have any credits yet.",
        },
        verdict: 'quota, not_received',
        text: "Your team doesn't have any credits yet.",
      },
      'by moderation': {
        status: 400,
        body: {
          code: 'Client specified an invalid argument',
          error: 'Input rejected by content moderation.',
        },
        verdict: 'moderation, refused',
        text: 'Input rejected by content moderation.',
      },
      'for a model that is gone': {
        status: 404,
        body: { code: 'Some requested entity was not found', error: 'The model was not found.' },
        verdict: 'model_retired, refused',
        text: 'The model was not found.',
      },
    };
    for (const [title, { status, body, verdict, text }] of Object.entries(cases)) {
      it(`${title} is ${verdict}`, async () => {
        vendor.play = (res) => sendJson(res, status, body);
        const failure = await failureOf(vendor.provider.submit(videoJob()));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, text]);
      });
    }
  });
});
