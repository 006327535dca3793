// Grok videos: what is asked for, how every answer to a poll reads, and what refusals mean.
import { expect } from 'chai';
import type { ImageRole } from '../../../domain/catalog/catalog.ts';
import { createGrokVideo } from '../../../providers/grok/video.ts';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { describeVendor, itNeedsAnId } from '../describe-vendor.ts';
import { failureOf, sendJson, verdictOf, videoJob } from '../stand-in.ts';

const DATA_URI = 'data:image/png;base64,AAAA';
const URL_OF_VIDEO = 'https://vidgen.example/video.mp4';

describeVendor('Grok videos', { create: createGrokVideo, path: '/v1' }, (vendor) => {
  async function poll(status: number, json: unknown, credential = 'default') {
    vendor.play = (res) => (json === undefined ? res.writeHead(status).end() : sendJson(res, status, json));
    return vendor.provider.poll?.({ id: 'a/b', credential });
  }

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

  describe('poll', () => {
    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll(202, undefined, 'second');
      const { path, headers } = vendor.received.at(-1) ?? {};
      expect([path, headers?.authorization]).to.deep.equal(['/v1/videos/a%2Fb', 'Bearer sk-second']);
    });

    it('is auth, not_received when that credential is gone', async () => {
      expect(verdictOf(await failureOf(poll(202, undefined, 'third')))).to.equal('auth, not_received');
    });

    const running: [string, number, unknown, number | null][] = [
      ['an empty 202', 202, undefined, null],
      ['pending', 202, { status: 'pending', progress: 40 }, 40],
      ['an unknown word', 200, { status: 'simmering', progress: 7 }, 7],
      ['absurd progress', 202, { status: 'pending', progress: 250 }, 250],
      ['progress as text', 202, { status: 'pending', progress: '40' }, null],
      ['no object at all', 200, [], null],
    ];
    for (const [title, status, json, progress] of running) {
      it(`reads ${title} as running`, async () => {
        expect(await poll(status, json)).to.deep.equal({ kind: 'running', progress });
      });
    }

    function done(video: Record<string, unknown>, usage?: Record<string, unknown>): unknown {
      return {
        status: 'done',
        progress: 100,
        model: 'grok-imagine-video',
        video,
        ...(usage ? { usage } : {}),
      };
    }

    it('reads done with its evidence: 2,500,000,000 ticks are 0.25 USD, which are 50 credits', async () => {
      const video = { url: URL_OF_VIDEO, duration: 5, respect_moderation: true };
      expect(await poll(200, done(video, { cost_in_usd_ticks: 2_500_000_000 }))).to.deep.equal({
        kind: 'succeeded',
        results: [{ kind: 'url', url: URL_OF_VIDEO }],
        evidence: { seconds: 5, vendorCost: 50_000_000n },
      });
    });

    it('rounds the vendor’s cost up', async () => {
      const state = await poll(200, done({ url: URL_OF_VIDEO }, { cost_in_usd_ticks: 51 }));
      expect(state).to.deep.include({ evidence: { vendorCost: 2n } });
    });

    for (const nonsense of [-1, 0.5, 9e18, 'plenty', null, [], {}]) {
      it(`leaves out evidence such as ${JSON.stringify(nonsense)}`, async () => {
        const duration = nonsense === 0.5 ? 0 : nonsense;
        const state = await poll(200, done({ url: URL_OF_VIDEO, duration }, { cost_in_usd_ticks: nonsense }));
        expect(state).to.deep.include({ kind: 'succeeded', evidence: {} });
      });
    }

    it('reads done without permission or with an empty URL as moderation, with what it costs us', async () => {
      for (const video of [
        { url: URL_OF_VIDEO, respect_moderation: false },
        { url: '', respect_moderation: true },
      ]) {
        const failed = { kind: 'failed', errorClass: 'moderation', text: null };
        expect(await poll(200, done(video))).to.deep.equal({ ...failed, evidence: {} });
        expect(await poll(200, done(video, { cost_in_usd_ticks: 2_500_000_000 }))).to.deep.equal({
          ...failed,
          evidence: { vendorCost: 50_000_000n },
        });
      }
    });

    it('reads done without any video as an answer that makes no sense', async () => {
      expect(await poll(200, { status: 'done' })).to.deep.equal({
        kind: 'failed',
        errorClass: 'invalid_response',
        text: null,
      });
    });

    const failures: [string, Record<string, unknown>, string][] = [
      ['invalid_argument', { error: { code: 'invalid_argument', message: 'm' } }, 'invalid'],
      ['failed_precondition', { error: { code: 'failed_precondition', message: 'm' } }, 'invalid'],
      ['permission_denied', { error: { code: 'permission_denied', message: 'm' } }, 'auth'],
      ['service_unavailable', { error: { code: 'service_unavailable', message: 'm' } }, 'transient'],
      ['internal_error', { error: { code: 'internal_error', message: 'm' } }, 'transient'],
      ['an unknown code', { error: { code: 'brand_new', message: 'm' } }, 'transient'],
      [
        'want of money',
        { error: { code: 'failed_precondition', message: 'The team has no credits left.' } },
        'quota',
      ],
      [
        'a block reason',
        { error: { code: 'permission_denied', message: 'm' }, block_reason: 'nudity' },
        'moderation',
      ],
      [
        'a usage guideline',
        { error: { code: 'invalid_argument', message: 'Violates usage guidelines.' } },
        'moderation',
      ],
    ];
    for (const [title, body, errorClass] of failures) {
      it(`reads failure by ${title} as ${errorClass}`, async () => {
        expect(await poll(200, { status: 'failed', ...body })).to.include({ kind: 'failed', errorClass });
      });
    }

    it('reads failure without an error as the vendor’s own trouble', async () => {
      expect(await poll(200, { status: 'failed' })).to.deep.equal({
        kind: 'failed',
        errorClass: 'transient',
        text: null,
      });
    });

    it('reads an error without a status as failure', async () => {
      const body = {
        code: 'Client specified an invalid argument',
        error: 'Generated video rejected by content moderation.',
      };
      const rejected = { kind: 'failed', errorClass: 'moderation', text: body.error };
      expect(await poll(200, body)).to.deep.equal(rejected);
      expect(await poll(400, body)).to.deep.equal(rejected);
    });

    it('reads expired', async () => {
      expect(await poll(200, { status: 'expired' })).to.deep.equal({ kind: 'expired' });
    });

    it('is expired, refused for a 404, which the caller judges by the age of the job', async () => {
      expect(verdictOf(await failureOf(poll(404, { error: 'not found' })))).to.equal('expired, refused');
    });

    it('throws what says nothing about the job', async () => {
      expect(verdictOf(await failureOf(poll(500, { error: 'x' })))).to.equal('transient, unknown');
      expect(verdictOf(await failureOf(poll(429, { error: 'x' })))).to.equal('rate, not_received');
      vendor.play = (res) => res.end('<html></html>');
      const failure = await failureOf(
        Promise.resolve(vendor.provider.poll?.({ id: 'x', credential: 'default' })),
      );
      expect(verdictOf(failure)).to.equal('invalid_response, unknown');
    });
  });
});
