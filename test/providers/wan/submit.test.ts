// Wan videos: what is asked for, and what refusals mean.
import { expect } from 'chai';
import { itNeedsAnId } from '../describe-vendor.ts';
import { failureOf, sendJson, verdictOf } from '../stand-in.ts';
import { describeWan, PROMPT, sent, VIDEO, wanJob } from './support.ts';

const DATA_URI = 'data:image/png;base64,AAAA';
const IMAGE = 'https://example.com/a.png';

describeWan((vendor) => {
  describe('submit', () => {
    it('is asked for in concrete values, as an asynchronous task', async () => {
      const { model, input, parameters } = await sent(vendor, wanJob({ audio: false }));
      expect(model).to.equal('wan3.0-video');
      expect(input).to.have.all.keys('prompt');
      expect(parameters).to.deep.equal({
        duration: 5,
        resolution: '720P',
        ratio: '16:9',
        audio: false,
        prompt_extend: true,
        watermark: false,
      });
      const { method, path, headers } = vendor.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal([
        'POST',
        '/api/v1/services/aigc/video-generation/video-synthesis',
      ]);
      expect(headers).to.include({ authorization: 'Bearer sk-first', 'x-dashscope-async': 'enable' });
    });

    it('has a seed, and what must not be seen, where they are ordered', async () => {
      const job = wanJob({ seed: 7 }, { upstreamModel: 'wan2.7-t2v', negativePrompt: 'rain' });
      const { input, parameters } = await sent(vendor, job);
      expect(parameters).to.include({ seed: 7 });
      expect(input).to.include({ negative_prompt: 'rain' });
    });

    it('has the prompt with a mark of white space behind it, another one for every attempt', async () => {
      const markOf = async (reference: string): Promise<string> => {
        const { prompt } = (await sent(vendor, wanJob({}, { reference }))).input;
        expect(prompt.trimEnd()).to.equal(PROMPT);
        return prompt.slice(PROMPT.length);
      };
      const mark = await markOf('task_1:1');
      expect(mark).to.match(/^[ \n]{32}$/);
      expect(await markOf('task_1:1')).to.equal(mark);
      expect(await markOf('task_1:2')).to.not.equal(mark);
    });

    it('has a first and a last frame', async () => {
      const job = wanJob({ imageRole: 'first_and_last_frame' }, { inputImages: [DATA_URI, IMAGE] });
      expect((await sent(vendor, job)).input.media).to.deep.equal([
        { type: 'first_frame', url: DATA_URI },
        { type: 'last_frame', url: IMAGE },
      ]);
    });

    it('has pictures and videos as references', async () => {
      const job = wanJob({ imageRole: 'references' }, { inputImages: [IMAGE], inputVideos: [VIDEO] });
      expect((await sent(vendor, job)).input.media).to.deep.equal([
        { type: 'reference_image', url: IMAGE },
        { type: 'reference_video', url: VIDEO },
      ]);
    });

    it('on 2.7 says nothing about sound, and from a frame nothing about the ratio', async () => {
      const words = await sent(vendor, wanJob({ audio: true }, { upstreamModel: 'wan2.7-t2v' }));
      expect(words.parameters).to.include({ ratio: '16:9' }).and.not.have.any.keys('audio');
      const frame = wanJob(
        { audio: true, ratio: null, imageRole: 'first_frame' },
        { upstreamModel: 'wan2.7-i2v', inputImages: [IMAGE] },
      );
      expect((await sent(vendor, frame)).parameters).to.not.have.any.keys('audio', 'ratio');
    });

    it('answers with a handle without secrets, and the vendor’s name for the request', async () => {
      vendor.play = (res) => sendJson(res, 200, { request_id: 'r-1', output: { task_id: 't-1' } });
      expect(await vendor.provider.submit(wanJob())).to.deep.equal({
        kind: 'accepted',
        handle: { id: 't-1', credential: 'default' },
        upstreamRequestId: 'r-1',
      });
    });

    itNeedsAnId(vendor, wanJob(), [
      {},
      null,
      [],
      { output: {} },
      { output: { task_id: '' } },
      { task_id: 't' },
    ]);
  });

  describe('submit, refused', () => {
    const cases: [status: number, code: string, verdict: string, message?: string][] = [
      [400, 'InvalidParameter', 'invalid, refused'],
      [400, 'DataInspectionFailed', 'moderation, refused'],
      [400, 'Arrearage', 'quota, not_received'],
      [401, 'InvalidApiKey', 'auth, not_received'],
      [403, 'AccessDenied', 'auth, not_received'],
      [404, 'ModelNotFound', 'model_retired, refused'],
      [400, 'ModelNotFound', 'model_retired, refused'],
      [429, 'Throttling', 'rate, not_received'],
      [429, 'Throttling.RateQuota', 'rate, not_received'],
      [429, 'Throttling.AllocationQuota', 'rate, not_received'],
      [429, 'Throttling', 'concurrency, not_received', 'Too many concurrent tasks.'],
      [500, 'InternalError', 'transient, unknown'],
      [503, 'ServiceUnavailable', 'transient, not_received'],
    ];
    for (const [status, code, verdict, message = 'No.'] of cases) {
      it(`with ${status} ${code} is ${verdict}`, async () => {
        vendor.play = (res) => sendJson(res, status, { code, message, request_id: 'r' });
        const failure = await failureOf(vendor.provider.submit(wanJob()));
        expect([verdictOf(failure), failure.text]).to.deep.equal([verdict, message]);
      });
    }
  });
});
