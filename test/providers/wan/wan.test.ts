// Wan videos: what is asked for, how every answer to a poll reads, what refusals mean, and how lost work is
// found.
import { expect } from 'chai';
import type { UpstreamJob } from '../../../providers/provider.ts';
import { createWan } from '../../../providers/wan/wan.ts';
import { describeVendor, itNeedsAnId } from '../describe-vendor.ts';
import { failureOf, sendJson, verdictOf, videoJob } from '../stand-in.ts';
import type { Order } from '../../../domain/orders/order.ts';

const DATA_URI = 'data:image/png;base64,AAAA';
const IMAGE = 'https://example.com/a.png';
const VIDEO = 'https://example.com/a.mp4';
const TASKS = '/api/v1/tasks';
const PROMPT = 'a cat that runs';

interface Sent {
  model: string;
  input: { prompt: string; media?: unknown };
  parameters: Record<string, unknown>;
}

describeVendor('Wan videos', { create: createWan }, (vendor) => {
  async function sent(job: UpstreamJob): Promise<Sent> {
    vendor.play = (res) =>
      sendJson(res, 200, { request_id: 'r', output: { task_id: 't', task_status: 'PENDING' } });
    await vendor.provider.submit(job);
    return JSON.parse(String(vendor.received.at(-1)?.body)) as Sent;
  }

  async function poll(status: number, json: unknown, credential = 'default') {
    vendor.play = (res) => sendJson(res, status, json);
    return vendor.provider.poll?.({ id: 't/1', credential });
  }

  describe('submit', () => {
    it('is asked for in concrete values, as an asynchronous task', async () => {
      const { model, input, parameters } = await sent(wanJob({ audio: false }));
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

    it('has the prompt with a mark of white space behind it, another one for every attempt', async () => {
      const markOf = async (reference: string): Promise<string> => {
        const { prompt } = (await sent(wanJob({}, { reference }))).input;
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
      expect((await sent(job)).input.media).to.deep.equal([
        { type: 'first_frame', url: DATA_URI },
        { type: 'last_frame', url: IMAGE },
      ]);
    });

    it('has pictures and videos as references', async () => {
      const job = wanJob({ imageRole: 'references' }, { inputImages: [IMAGE], inputVideos: [VIDEO] });
      expect((await sent(job)).input.media).to.deep.equal([
        { type: 'reference_image', url: IMAGE },
        { type: 'reference_video', url: VIDEO },
      ]);
    });

    it('on 2.7 says nothing about sound, and from a frame nothing about the ratio', async () => {
      const words = await sent(wanJob({ audio: true }, { upstreamModel: 'wan2.7-t2v' }));
      expect(words.parameters).to.include({ ratio: '16:9' }).and.not.have.any.keys('audio');
      const frame = wanJob(
        { audio: true, ratio: null, imageRole: 'first_frame' },
        { upstreamModel: 'wan2.7-i2v', inputImages: [IMAGE] },
      );
      expect((await sent(frame)).parameters).to.not.have.any.keys('audio', 'ratio');
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

  describe('poll', () => {
    const task = (task_status: unknown, more: object = {}) => ({ output: { task_status, ...more } });

    it('is asked with the credential that handed it over, and its id is one path segment', async () => {
      await poll(200, task('RUNNING'), 'second');
      const { path, headers } = vendor.received.at(-1) ?? {};
      expect([path, headers?.authorization]).to.deep.equal([`${TASKS}/t%2F1`, 'Bearer sk-second']);
    });

    const words: [status: unknown, state: object][] = [
      ['PENDING', { kind: 'queued' }],
      ['RUNNING', { kind: 'running', progress: null }],
      ['SIMMERING', { kind: 'running', progress: null }],
      [undefined, { kind: 'running', progress: null }],
      ['CANCELED', { kind: 'cancelled' }],
      ['SUCCEEDED', { kind: 'failed', errorClass: 'invalid_response', text: null }],
      ['FAILED', { kind: 'failed', errorClass: 'transient', text: null }],
    ];
    for (const [status, state] of words) {
      it(`reads ${String(status)} without anything else as ${JSON.stringify(state)}`, async () => {
        expect(await poll(200, task(status))).to.deep.equal(state);
      });
    }

    it('is expired, refused when it is UNKNOWN, which the caller judges by the age of the job', async () => {
      expect(verdictOf(await failureOf(poll(200, task('UNKNOWN'))))).to.equal('expired, refused');
      expect(verdictOf(await failureOf(poll(404, {})))).to.equal('expired, refused');
    });

    const usages: [usage: unknown, evidence: object][] = [
      [{ duration: 5, output_video_duration: 5, input_video_duration: 0, SR: 720 }, { seconds: 5 }],
      [{ duration: 5 }, { seconds: 5 }],
      [
        { duration: 12, output_video_duration: 5, input_video_duration: 7 },
        { seconds: 5, inputVideoSeconds: 7 },
      ],
      // The duration alone would charge the input a second time, at the price of the output.
      [{ duration: 12, input_video_duration: 7 }, { inputVideoSeconds: 7 }],
      [{ duration: 0 }, {}],
      [{ duration: -5 }, {}],
      [{ duration: 9e18 }, {}],
      [{ duration: '5' }, {}],
      [undefined, {}],
    ];
    for (const [usage, evidence] of usages) {
      it(`reads ${JSON.stringify(usage)} as evidence ${JSON.stringify(evidence)}`, async () => {
        const state = await poll(200, { ...task('SUCCEEDED', { video_url: VIDEO }), usage });
        expect(state).to.deep.equal({ kind: 'succeeded', results: [{ kind: 'url', url: VIDEO }], evidence });
      });
    }

    const failures: [code: string, errorClass: string][] = [
      ['DataInspectionFailed', 'moderation'],
      ['InvalidParameter.DataInspection', 'moderation'],
      ['InvalidParameter', 'invalid'],
      ['InternalError.Timeout', 'transient'],
      ['BrandNew', 'transient'],
    ];
    for (const [code, errorClass] of failures) {
      it(`reads failure by ${code} as ${errorClass}`, async () => {
        expect(await poll(200, task('FAILED', { code, message: 'm' }))).to.deep.equal({
          kind: 'failed',
          errorClass,
          text: 'm',
        });
      });
    }
  });

  describe('cancel', () => {
    const cancel = async (status: number, json: object) => {
      vendor.play = (res) => sendJson(res, status, json);
      return vendor.provider.cancel?.({ id: 't/1', credential: 'second' });
    };

    it('is asked for with one POST', async () => {
      expect(await cancel(200, { request_id: 'r' })).to.equal('cancelled');
      const { method, path } = vendor.received.at(-1) ?? {};
      expect([method, path]).to.deep.equal(['POST', `${TASKS}/t%2F1/cancel`]);
    });

    it('is too late once it began', async () => {
      expect(await cancel(400, { code: 'UnsupportedOperation', message: 'm' })).to.equal('too_late');
    });

    it('fails when nobody knows what became of it', async () => {
      const failure = await failureOf(Promise.resolve(cancel(500, { code: 'InternalError', message: 'm' })));
      expect(verdictOf(failure)).to.equal('transient, unknown');
    });
  });

  describe('lookUp', () => {
    const sentAt = new Date('2026-11-20T12:00:00Z');
    const entry = { task_id: 'ours', model_name: 'wan3.0-video', gmt_create: sentAt.getTime() + 500 };

    /** The list, and the prompt of every task. */
    async function lookUp(data: object[], promptOf: (id: string) => string | undefined) {
      vendor.play = (res, { path }) => {
        const id = path.slice(`${TASKS}/`.length);
        if (id.startsWith('?')) sendJson(res, 200, { data, total: data.length });
        else
          sendJson(res, 200, { output: { task_id: id, task_status: 'RUNNING', orig_prompt: promptOf(id) } });
      };
      const before = vendor.received.length;
      const found = await vendor.provider.lookUp?.(wanJob(), sentAt);
      return { found, asked: vendor.received.slice(before).map(({ path }) => path) };
    }

    it('is found by its prompt with the mark, the nearest in time first', async () => {
      const { prompt } = (await sent(wanJob())).input;
      const far = { ...entry, task_id: 'far', gmt_create: entry.gmt_create + 60_000 };
      const { found, asked } = await lookUp([far, entry], (id) => (id === 'ours' ? prompt : PROMPT));
      expect(found).to.deep.equal({ kind: 'found', handle: { id: 'ours', credential: 'default' } });
      expect(asked).to.deep.equal([
        `${TASKS}/?model_name=wan3.0-video&page_no=1&page_size=100`,
        `${TASKS}/ours`,
      ]);
    });

    it('is unclear for the same words without the mark: they may be somebody else’s', async () => {
      expect((await lookUp([entry], () => PROMPT)).found).to.deep.equal({ kind: 'unclear' });
      expect((await lookUp([entry], () => undefined)).found).to.deep.equal({ kind: 'unclear' });
      expect((await lookUp([], () => PROMPT)).found).to.deep.equal({ kind: 'unclear' });
    });

    it('asks about no task of another model or time, and about fifteen at most', async () => {
      const others = [
        { ...entry, model_name: 'wan2.7-t2v' },
        { ...entry, gmt_create: entry.gmt_create - 120_000 },
        { ...entry, gmt_create: entry.gmt_create + 3_600_000 },
        { ...entry, gmt_create: 'yesterday' },
      ];
      expect((await lookUp(others, () => PROMPT)).asked).to.have.length(1);
      const many = Array.from({ length: 40 }, (_, index) => ({ ...entry, task_id: `t${index}` }));
      expect((await lookUp(many, () => PROMPT)).asked).to.have.length(16);
    });
  });
});

function wanJob(order: Partial<Order> = {}, changes: Partial<UpstreamJob> = {}): UpstreamJob {
  const job = videoJob({ upstreamModel: 'wan3.0-video', ...changes });
  return { ...job, order: { ...job.order, resolution: '720p', ...order } };
}
