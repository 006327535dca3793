// Seedance videos: what is asked for, how every answer to a poll reads, what refusals mean, and how lost work
// is found.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { createSeedance } from '../../../providers/seedance/seedance.ts';
import { describeVendor, itNeedsAnId } from '../describe-vendor.ts';
import { failureOf, sendJson, verdictOf, videoJob } from '../stand-in.ts';
import type { Order } from '../../../domain/orders/order.ts';

const DATA_URI = 'data:image/png;base64,AAAA';
const IMAGE = 'https://example.com/a.png';
const VIDEO = 'https://example.com/a.mp4';
const TASKS = '/api/v3/contents/generations/tasks';
const MODEL = 'dreamina-seedance-2-0-260128';
/** The first 31 bits of the digest of the reference. */
const SEED = createHash('sha256').update('task_1-1').digest().readUInt32BE(0) >>> 1;

describeVendor('Seedance videos', { create: createSeedance, path: '/api/v3' }, (vendor) => {
  async function poll(status: number, json: unknown, credential = 'default') {
    vendor.play = (res) => sendJson(res, status, json);
    return vendor.provider.poll?.({ id: 'cgt/1', credential });
  }

  describe('submit', () => {
    async function sent(job: UpstreamJob): Promise<unknown> {
      vendor.play = (res) => sendJson(res, 200, { id: 'cgt-1' });
      await vendor.provider.submit(job);
      return JSON.parse(String(vendor.received.at(-1)?.body));
    }

    const text = { type: 'text', text: 'a cat that runs' };
    const image = (url: string, role: string) => ({ type: 'image_url', image_url: { url }, role });

    it('is asked for in concrete values, with a seed made from the reference', async () => {
      expect(await sent(seedanceJob({ audio: true }))).to.deep.equal({
        model: MODEL,
        content: [text],
        resolution: '720p',
        ratio: '16:9',
        duration: 5,
        generate_audio: true,
        watermark: false,
        seed: SEED,
      });
      const { method, path, headers } = vendor.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal(['POST', TASKS]);
      expect(headers?.authorization).to.equal('Bearer sk-first');
      expect(SEED).to.be.within(0, 2_147_483_647);
    });

    it('has no word about sound where the model has no such choice', async () => {
      expect(await sent(seedanceJob({ audio: null }))).to.not.have.any.keys('generate_audio');
    });

    it('has a first frame in the ordered ratio', async () => {
      const body = await sent(seedanceJob({ imageRole: 'first_frame' }, { inputImages: [DATA_URI] }));
      expect(body).to.deep.include({ content: [text, image(DATA_URI, 'first_frame')], ratio: '16:9' });
    });

    it('has a first and a last frame', async () => {
      const inputImages = [DATA_URI, IMAGE];
      expect(await sent(seedanceJob({ imageRole: 'first_and_last_frame' }, { inputImages }))).to.deep.include(
        {
          content: [text, image(DATA_URI, 'first_frame'), image(IMAGE, 'last_frame')],
        },
      );
    });

    it('on 2.5 takes the ratio from the first frame, since nothing else is accepted', async () => {
      const upstreamModel = 'dreamina-seedance-2-5-260628';
      for (const imageRole of ['first_frame', 'first_and_last_frame'] as const)
        expect(
          await sent(seedanceJob({ imageRole }, { upstreamModel, inputImages: [IMAGE] })),
        ).to.deep.include({ ratio: 'adaptive', duration: 5 });
      expect(await sent(seedanceJob({}, { upstreamModel }))).to.include({ ratio: '16:9', duration: 5 });
    });

    it('has pictures and videos as references', async () => {
      const job = seedanceJob({ imageRole: 'references' }, { inputImages: [IMAGE], inputVideos: [VIDEO] });
      expect(await sent(job)).to.deep.include({
        content: [
          text,
          image(IMAGE, 'reference_image'),
          { type: 'video_url', video_url: { url: VIDEO }, role: 'reference_video' },
        ],
        ratio: '16:9',
      });
    });

    it('answers with a handle without secrets', async () => {
      vendor.play = (res) => sendJson(res, 200, { id: 'cgt-1' }, { 'x-request-id': 'req_1' });
      expect(await vendor.provider.submit(seedanceJob())).to.deep.equal({
        kind: 'accepted',
        handle: { id: 'cgt-1', credential: 'default' },
        upstreamRequestId: 'req_1',
      });
    });

    itNeedsAnId(vendor, seedanceJob(), [{}, null, [], { id: '' }, { id: 7 }]);
  });

  describe('submit, refused', () => {
    const cases: [status: number, code: string, verdict: string, message?: string][] = [
      [400, 'InvalidParameter', 'invalid, refused'],
      [400, 'InvalidParameter.TaskTypeConstraint', 'invalid, refused'],
      [400, 'MissingParameter', 'invalid, refused'],
      [400, 'InputTextSensitiveContentDetected', 'moderation, refused'],
      [400, 'InputImageSensitiveContentDetected.PrivacyInformation', 'moderation, refused'],
      [401, 'AuthenticationError', 'auth, not_received'],
      [403, 'AccessDenied', 'auth, not_received'],
      [403, 'AccountOverdueError', 'quota, not_received'],
      [404, 'InvalidEndpointOrModel.NotFound', 'model_retired, refused'],
      [404, 'ModelNotOpen', 'model_retired, refused'],
      [429, 'RateLimitExceeded.EndpointRPMExceeded', 'rate, not_received'],
      [429, 'ModelAccountRpmRateLimitExceeded', 'rate, not_received'],
      [429, 'ServerOverloaded', 'rate, not_received'],
      [429, 'QuotaExceeded', 'concurrency, not_received', 'Too many tasks are in the queue.'],
      [429, 'QuotaExceeded', 'quota, not_received', 'Your free trial is used up.'],
      [500, 'InternalServiceError', 'transient, unknown'],
      [503, 'ServiceUnavailable', 'transient, not_received'],
    ];
    for (const [status, code, verdict, message = 'No.'] of cases) {
      it(`with ${status} ${code} is ${verdict}`, async () => {
        vendor.play = (res) =>
          sendJson(res, status, { error: { code, message, param: '', type: 'BadRequest' } });
        const failure = await failureOf(vendor.provider.submit(seedanceJob()));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, message]);
      });
    }
  });

  describe('poll', () => {
    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll(200, { status: 'running' }, 'second');
      const { path, headers } = vendor.received.at(-1) ?? {};
      expect([path, headers?.authorization]).to.deep.equal([`${TASKS}/cgt%2F1`, 'Bearer sk-second']);
    });

    it('is auth, not_received when that credential is gone', async () => {
      expect(verdictOf(await failureOf(poll(200, {}, 'third')))).to.equal('auth, not_received');
    });

    const words: [status: unknown, state: object][] = [
      ['queued', { kind: 'queued' }],
      ['running', { kind: 'running', progress: null }],
      ['simmering', { kind: 'running', progress: null }],
      [7, { kind: 'running', progress: null }],
      ['cancelled', { kind: 'cancelled' }],
      ['expired', { kind: 'expired' }],
      ['succeeded', { kind: 'failed', errorClass: 'invalid_response', text: null }],
      ['failed', { kind: 'failed', errorClass: 'transient', text: null }],
    ];
    for (const [status, state] of words) {
      it(`reads ${String(status)} without anything else as ${JSON.stringify(state)}`, async () => {
        expect(await poll(200, { status, error: null })).to.deep.equal(state);
      });
    }

    it('reads success with the tokens that are billed', async () => {
      const usage = { completion_tokens: 108_900, total_tokens: 108_900 };
      expect(await poll(200, { status: 'succeeded', content: { video_url: VIDEO }, usage })).to.deep.equal({
        kind: 'succeeded',
        results: [{ kind: 'url', url: VIDEO }],
        evidence: { tokens: 108_900 },
      });
    });

    for (const nonsense of [0, -1, 9e18, 'plenty', null, [], {}]) {
      it(`leaves out evidence such as ${JSON.stringify(nonsense)}`, async () => {
        const usage = { completion_tokens: nonsense };
        const state = await poll(200, { status: 'succeeded', content: { video_url: VIDEO }, usage });
        expect(state).to.deep.include({ kind: 'succeeded', evidence: {} });
      });
    }

    const failures: [code: string, errorClass: string][] = [
      ['OutputVideoSensitiveContentDetected', 'moderation'],
      ['OutputAudioSensitiveContentDetected.PolicyViolation', 'moderation'],
      ['InvalidParameter.TaskTypeMismatch', 'invalid'],
      ['InternalServiceError', 'transient'],
      ['BrandNew', 'transient'],
    ];
    for (const [code, errorClass] of failures) {
      it(`reads failure by ${code} as ${errorClass}`, async () => {
        const state = await poll(200, { status: 'failed', error: { code, message: 'm' } });
        expect(state).to.deep.equal({ kind: 'failed', errorClass, text: 'm' });
      });
    }

    it('is expired, refused for a 404, which the caller judges by the age of the job', async () => {
      const error = { code: 'ResourceNotFound', message: 'm' };
      expect(verdictOf(await failureOf(poll(404, { error })))).to.equal('expired, refused');
    });
  });

  describe('cancel', () => {
    async function cancelWhen(status: string, deleted = 200) {
      vendor.play = (res, { method }) => {
        if (method === 'GET') sendJson(res, 200, { status, content: { video_url: VIDEO } });
        else
          sendJson(res, deleted, deleted === 200 ? {} : { error: { code: 'InvalidAction', message: 'm' } });
      };
      const before = vendor.received.length;
      const answer = await vendor.provider.cancel?.({ id: 'cgt-1', credential: 'default' });
      return [answer, ...vendor.received.slice(before).map(({ method }) => method)];
    }

    it('is deleted only while it is queued', async () => {
      expect(await cancelWhen('queued')).to.deep.equal(['cancelled', 'GET', 'DELETE']);
    });

    for (const status of ['running', 'succeeded', 'failed', 'expired', 'simmering'])
      it(`is left alone when ${status}, since a deletion would erase its record`, async () => {
        expect(await cancelWhen(status)).to.deep.equal(['too_late', 'GET']);
      });

    it('is too late when it began in between', async () => {
      expect(await cancelWhen('queued', 409)).to.deep.equal(['too_late', 'GET', 'DELETE']);
    });
  });

  describe('lookUp', () => {
    const sentAt = new Date('2026-11-20T12:00:00Z');
    const createdAt = sentAt.getTime() / 1000 + 1;
    const ours = { id: 'cgt-ours', model: MODEL, status: 'queued', seed: SEED, created_at: createdAt };

    async function lookUp(...items: object[]) {
      vendor.play = (res) => sendJson(res, 200, { items, total: items.length });
      return vendor.provider.lookUp?.(seedanceJob(), sentAt);
    }

    it('is found by its seed in the list of its model', async () => {
      const other = { ...ours, id: 'cgt-other', seed: SEED + 1 };
      expect(await lookUp(other, ours)).to.deep.equal({
        kind: 'found',
        handle: { id: 'cgt-ours', credential: 'default' },
      });
      const { path = '' } = vendor.received.at(-1) ?? {};
      expect(path).to.equal(`${TASKS}?page_num=1&page_size=200&filter.model=${MODEL}`);
    });

    const doubts: Record<string, object[]> = {
      'when nothing is listed': [],
      'with another seed': [{ ...ours, seed: 7 }],
      'without a seed': [{ ...ours, seed: undefined }],
      'of another model': [{ ...ours, model: 'seedance-1-0-pro-250528' }],
      'from before it was sent': [{ ...ours, created_at: createdAt - 120 }],
      'from long after': [{ ...ours, created_at: createdAt + 3_600 }],
      'without a time': [{ ...ours, created_at: undefined }],
      'of another duration': [{ ...ours, duration: 9 }],
      'of another resolution': [{ ...ours, resolution: '480p' }],
      'when two fit': [ours, { ...ours, id: 'cgt-twin' }],
      'without an id': [{ ...ours, id: undefined }],
    };
    for (const [title, items] of Object.entries(doubts))
      it(`is unclear ${title}`, async () => {
        expect(await lookUp(...items)).to.deep.equal({ kind: 'unclear' });
      });
  });
});

function seedanceJob(order: Partial<Order> = {}, changes: Partial<UpstreamJob> = {}): UpstreamJob {
  const job = videoJob({ upstreamModel: MODEL, ...changes });
  return { ...job, order: { ...job.order, resolution: '720p', ...order } };
}
