// Vidu: an endpoint for each use of input images, how every answer to a poll reads, and what refusals mean.
import { expect } from 'chai';
import type { ImageRole } from '../../../domain/catalog/catalog.ts';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { createVidu } from '../../../providers/vidu/vidu.ts';
import { describeVendor, itNeedsAnId } from '../describe-vendor.ts';
import { failureOf, sendJson, verdictOf, videoJob } from '../stand-in.ts';

const DATA_URI = 'data:image/png;base64,AAAA';
const IMAGE_URL = 'https://example.com/a.png';
const URL_OF_VIDEO = 'https://prod.vidu.example/video.mp4?sig=1';

describeVendor('Vidu', { create: createVidu }, (vendor) => {
  function jobWith(imageRole: ImageRole, inputImages: string[] = []): UpstreamJob {
    const { order } = videoJob();
    return videoJob({
      upstreamModel: 'viduq3-turbo',
      inputImages,
      order: { ...order, resolution: '720p', audio: false, imageRole, inputImages: inputImages.length },
    });
  }

  const withSeed = (job: UpstreamJob): UpstreamJob => ({ ...job, order: { ...job.order, seed: 7 } });

  describe('submit', () => {
    const common = {
      model: 'viduq3-turbo',
      prompt: 'a cat that runs',
      duration: 5,
      resolution: '720p',
      audio: false,
      off_peak: false,
    };
    const requests: [job: UpstreamJob, path: string, body: object][] = [
      [jobWith('none'), 'text2video', { ...common, aspect_ratio: '16:9' }],
      [withSeed(jobWith('none')), 'text2video', { ...common, aspect_ratio: '16:9', seed: 7 }],
      [jobWith('first_frame', [IMAGE_URL]), 'img2video', { ...common, images: [IMAGE_URL] }],
      [
        jobWith('first_and_last_frame', [DATA_URI, IMAGE_URL]),
        'start-end2video',
        { ...common, images: [DATA_URI, IMAGE_URL] },
      ],
      [
        jobWith('references', [IMAGE_URL]),
        'reference2video',
        { ...common, images: [IMAGE_URL], aspect_ratio: '16:9' },
      ],
    ];
    for (const [job, path, body] of requests) {
      it(`with input images as ${job.order.imageRole} goes to ${path} in concrete values`, async () => {
        vendor.play = (res) => sendJson(res, 200, { task_id: '1', state: 'created' });
        await vendor.provider.submit(job);
        const received = vendor.received.at(-1);
        expect([received?.method, received?.path]).to.deep.equal(['POST', `/ent/v2/${path}`]);
        expect(received?.headers.authorization).to.equal('Token sk-first');
        expect(JSON.parse(String(received?.body))).to.deep.equal(body);
      });
    }

    it('answers with a handle without secrets', async () => {
      vendor.play = (res) => sendJson(res, 200, { task_id: '88' }, { 'x-trace-id': 't-1' });
      expect(await vendor.provider.submit(jobWith('none'))).to.deep.equal({
        kind: 'accepted',
        handle: { id: '88', credential: 'default' },
        upstreamRequestId: 't-1',
      });
    });

    itNeedsAnId(vendor, jobWith('none'), [{}, null, [], 'x', { task_id: '' }, { task_id: 7 }, { id: 'x' }]);
  });

  const refusals: [status: number, reason: string, verdict: string][] = [
    [400, 'FieldInvalid', 'invalid, refused'],
    [400, 'FieldLacking', 'invalid, refused'],
    [400, 'FieldUnwanted', 'invalid, refused'],
    [400, 'ImageDownloadFailure', 'invalid, refused'],
    [400, 'ImageFormatInvalid', 'invalid, refused'],
    [400, 'BrandNewWord', 'invalid, refused'],
    [400, 'ModelUnavailable', 'model_retired, refused'],
    [400, 'AuditSubmitIllegal', 'moderation, refused'],
    [400, 'TaskPromptPolicyViolation', 'moderation, refused'],
    [400, 'CreditInsufficient', 'quota, not_received'],
    [402, 'CreditInsufficient', 'quota, not_received'],
    [401, 'Unauthorized', 'auth, not_received'],
    [403, 'PermissionDenied', 'auth, not_received'],
    [429, 'QuotaExceeded', 'concurrency, not_received'],
    [429, 'TooManyRequests', 'rate, not_received'],
    [429, 'SystemThrottling', 'rate, not_received'],
    [500, 'InternalServiceFailure', 'transient, unknown'],
    [500, 'FieldInvalid', 'transient, unknown'],
    [503, 'ServiceUnavailable', 'transient, not_received'],
  ];
  describe('submit, refused', () => {
    for (const [status, reason, verdict] of refusals)
      it(`with ${status} ${reason} is ${verdict}, wherever the word stands`, async () => {
        const said = { message: 'the words', metadata: { trace_id: 't' } };
        for (const words of [{ code: status, reason }, { code: reason, reason }, { code: reason }]) {
          vendor.play = (res) => sendJson(res, status, { ...words, ...said });
          const failure = await failureOf(vendor.provider.submit(jobWith('none')));
          expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, 'the words']);
        }
      });
  });

  async function poll(json: unknown, status = 200, credential = 'default') {
    vendor.play = (res) => sendJson(res, status, json);
    return vendor.provider.poll?.({ id: 'a/b', credential });
  }

  describe('poll', () => {
    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll({ state: 'processing' }, 200, 'second');
      const { path, headers } = vendor.received.at(-1) ?? {};
      expect([path, headers?.authorization]).to.deep.equal([
        '/ent/v2/tasks/a%2Fb/creations',
        'Token sk-second',
      ]);
    });

    for (const state of ['created', 'queueing'])
      it(`reads ${state} as queued`, async () => {
        expect(await poll({ state })).to.deep.equal({ kind: 'queued' });
      });

    for (const json of [{ state: 'processing' }, { state: 'simmering' }, { state: 7 }, {}, [], null])
      it(`reads ${JSON.stringify(json)} as running`, async () => {
        expect(await poll(json)).to.deep.equal({ kind: 'running', progress: null });
      });

    const creations = [{ id: 'c', url: URL_OF_VIDEO, cover_url: 'https://prod.vidu.example/c.jpg' }];

    it('reads success with what it cost: a credit of theirs is one of ours', async () => {
      expect(await poll({ state: 'success', err_code: '', credits: 55, creations })).to.deep.equal({
        kind: 'succeeded',
        results: [{ kind: 'url', url: URL_OF_VIDEO }],
        evidence: { vendorCost: 55_000_000n },
      });
    });

    for (const credits of [undefined, -1, 0.5, 9e18, 100_001, 'plenty', null])
      it(`leaves out credits such as ${JSON.stringify(credits)}`, async () => {
        expect(await poll({ state: 'success', credits, creations })).to.deep.include({ evidence: {} });
      });

    for (const none of [undefined, [], [{}], [{ url: '' }], 'x'])
      it(`makes no sense of success with creations ${JSON.stringify(none)}`, async () => {
        const failed = { kind: 'failed', errorClass: 'invalid_response', text: null };
        expect(await poll({ state: 'success', creations: none })).to.deep.equal(failed);
      });

    const failures: [word: string, errorClass: string][] = [
      ['TaskPromptPolicyViolation', 'moderation'],
      ['CreationPolicyViolation', 'moderation'],
      ['AuditSubmitIllegal', 'moderation'],
      ['ImageDownloadFailure', 'invalid'],
      ['CreditInsufficient', 'quota'],
      ['InternalServiceFailure', 'transient'],
      ['BrandNewWord', 'transient'],
    ];
    for (const [word, errorClass] of failures)
      it(`reads failure by ${word} as ${errorClass}`, async () => {
        const failed = { kind: 'failed', errorClass, text: word };
        expect(await poll({ state: 'failed', err_code: word, credits: 5 })).to.deep.equal(failed);
      });

    it('reads a cancelled job', async () => {
      expect(await poll({ state: 'failed', err_code: 'UserCancelled' })).to.deep.equal({ kind: 'cancelled' });
    });

    it('is expired, refused for a 404, and throws what says nothing about the job', async () => {
      const verdict = async (status: number) =>
        verdictOf(await failureOf(poll({ code: status, reason: 'TaskNotFound', message: 'm' }, status)));
      expect(await verdict(404)).to.equal('expired, refused');
      expect(await verdict(500)).to.equal('transient, unknown');
    });
  });

  describe('cancel', () => {
    const cancel = () => vendor.provider.cancel?.({ id: 'a/b', credential: 'second' });

    it('names the job in path and body, with the credential that handed it over', async () => {
      vendor.play = (res) => sendJson(res, 200, {});
      expect(await cancel()).to.equal('cancelled');
      const { method, path, headers, body } = vendor.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal(['POST', '/ent/v2/tasks/a%2Fb/cancel']);
      expect(headers?.authorization).to.equal('Token sk-second');
      expect(JSON.parse(String(body))).to.deep.equal({ id: 'a/b' });
    });

    it('is too late once the job is scheduled', async () => {
      const message = 'task state processing is not allowed to cancel';
      vendor.play = (res) => sendJson(res, 400, { code: 400, reason: 'BadRequest', message });
      expect(await cancel()).to.equal('too_late');
    });

    it('throws where nobody knows', async () => {
      vendor.play = (res) => sendJson(res, 500, { reason: 'InternalServiceFailure' });
      expect(verdictOf(await failureOf(Promise.resolve(cancel())))).to.equal('transient, unknown');
    });
  });
});
