// Seedance videos: what is asked for, and what refusals mean.
import { expect } from 'chai';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { itNeedsAnId } from '../describe-vendor.ts';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeSeedance, MARK, MODEL, seedanceJob, TASKS, VIDEO } from './support.ts';

const DATA_URI = 'data:image/png;base64,AAAA';
const IMAGE = 'https://example.com/a.png';

describeSeedance((vendor) => {
  describe('submit', () => {
    async function sent(job: UpstreamJob): Promise<unknown> {
      vendor.play = (res) => sendJson(res, 200, { id: 'cgt-1' });
      await vendor.provider.submit(job);
      return JSON.parse(String(vendor.received.at(-1)?.body));
    }

    const text = { type: 'text', text: 'a cat that runs' };
    const image = (url: string, role: string) => ({ type: 'image_url', image_url: { url }, role });

    it('is asked for in concrete values, with a mark made from the reference', async () => {
      expect(await sent(seedanceJob({ audio: true }))).to.deep.equal({
        model: MODEL,
        content: [text],
        resolution: '720p',
        ratio: '16:9',
        duration: 5,
        generate_audio: true,
        watermark: false,
        safety_identifier: MARK,
      });
      const { method, path, headers } = vendor.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal(['POST', TASKS]);
      expect(headers?.authorization).to.equal('Bearer sk-first');
    });

    it('has a seed where one is ordered', async () => {
      expect(await sent(seedanceJob({ seed: 7 }))).to.include({ seed: 7 });
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
});
