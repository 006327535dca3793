// Wan on DashScope as the sandbox plays it.

import { expect } from 'chai';
import {
  ask,
  at,
  expectSensitive,
  followStatus,
  type HttpAnswer,
  type Json,
  newPrompt,
  useSandbox,
} from '../support.ts';
import {
  itBreaksConnections,
  itDistortsUsage,
  itRefusesWithoutJob,
  type Submissions,
} from '../vendor-rules.ts';

const MODEL = 'wan3.0-video';
const IMAGE = 'https://example.com/fox.png';
const FRAME = { type: 'first_frame', url: IMAGE };
const VIDEO = { type: 'reference_video', url: 'https://example.com/fox.mp4' };

interface Order {
  model?: string;
  input?: Json;
  parameters?: Json;
}

describe('sandbox: Wan', () => {
  const sandbox = useSandbox();

  const url = (path: string): string => `${sandbox().url}/dashscope/api/v1${path}`;

  async function submit(directives: string, order: Order = {}, async = true): Promise<HttpAnswer> {
    const { model = MODEL, input = {}, parameters = {} } = order;
    const prompt = newPrompt(directives).prompt;
    return ask(url('/services/aigc/video-generation/video-synthesis'), {
      method: 'POST',
      headers: async ? { 'x-dashscope-async': 'enable' } : {},
      body: { model, input: { prompt, ...input }, parameters },
    });
  }

  const submissions: Submissions = {
    sandbox,
    submit: (prompt) => submit('', { input: { prompt } }),
  };

  const poll = (id: string): Promise<HttpAnswer> => ask(url(`/tasks/${id}`));

  const cancel = (id: string): Promise<HttpAnswer> => ask(url(`/tasks/${id}/cancel`), { method: 'POST' });

  async function start(directives: string, order: Order = {}): Promise<string> {
    const answer = await submit(directives, order);
    expect(answer.status, answer.text).to.equal(200);
    expect(at(answer.body, 'output.task_status')).to.equal('PENDING');
    expect(answer.body['request_id']).to.be.a('string');
    return String(at(answer.body, 'output.task_id'));
  }

  async function finish(directives: string, order: Order = {}): Promise<Json> {
    return (await poll(await start(`seconds=0 ${directives}`, order))).body;
  }

  describe('POST /video-synthesis', () => {
    it('does no synchronous work, and wants a key', async () => {
      expect((await submit('', {}, false)).status).to.equal(403);
      expect((await ask(url('/tasks/x'), { key: null })).body).to.include({ code: 'InvalidApiKey' });
    });

    const refusals: [order: Order, field: string][] = [
      [{ parameters: { duration: 31 } }, 'duration'],
      [{ parameters: { duration: 26 }, input: { media: [VIDEO] } }, 'duration'],
      [{ model: 'wan2.7-t2v', parameters: { duration: -1 } }, 'duration'],
      [{ parameters: { resolution: '720p' } }, 'resolution'],
      [{ model: 'wan2.7-t2v', parameters: { resolution: '480P' } }, 'resolution'],
      [{ parameters: { ratio: '21:9' } }, 'ratio'],
      [{ model: 'wan2.7-i2v', parameters: { ratio: '1:1' }, input: { media: [FRAME] } }, 'parameters.ratio'],
      [{ parameters: { size: '1280*720' } }, 'parameters.size'],
      [{ model: 'wan2.7-t2v', parameters: { audio: true } }, 'parameters.audio'],
      [{ input: { negative_prompt: 'dogs' } }, 'input.negative_prompt'],
      [{ model: 'wan2.7-t2v', input: { negative_prompt: 'd'.repeat(501) } }, 'input.negative_prompt'],
      [{ input: { img_url: IMAGE } }, 'input.img_url'],
      [{ input: { media: [FRAME, VIDEO] } }, 'input.media'],
      [{ input: { media: [{ type: 'last_frame', url: IMAGE }] } }, 'input.media'],
      [{ input: { media: [{ type: 'first_frame', url: 'fox.png' }] } }, 'input.media[0]'],
      [{ model: 'wan2.7-i2v' }, 'input.media'],
      [{ input: { prompt: '' } }, 'input.prompt'],
    ];

    for (const [order, field] of refusals)
      it(`refuses ${JSON.stringify(order).slice(0, 70)} and names ${field}`, async () => {
        const { status, body } = await submit('', order);
        expect(status).to.equal(400);
        expect(body).to.have.all.keys('code', 'message', 'request_id');
        expect(body['message']).to.match(new RegExp(`^${field.replaceAll(/[[\].]/g, '\\$&')}: `));
      });

    it('knows no model of another vendor', async () => {
      expect((await submit('', { model: 'grok-imagine-video' })).body).to.include({ code: 'ModelNotFound' });
    });

    itRefusesWithoutJob(
      submissions,
      [
        ['400', 400, 'InvalidParameter'],
        ['401', 401, 'InvalidApiKey'],
        ['402', 402, 'Arrearage'],
        ['403', 403, 'AccessDenied'],
        ['429', 429, 'Throttling.RateQuota'],
        ['500', 500, 'InternalError'],
        ['503', 503, 'ServiceUnavailable'],
      ],
      ({ status, body }) => [status, body['code']],
    );

    itBreaksConnections(submissions);
  });

  describe('GET /tasks/{id}', () => {
    it('goes from PENDING over RUNNING to a video with its seconds', async () => {
      const id = await start('seconds=0.4', { parameters: { duration: 7, resolution: '480P' } });
      const { statuses, done } = await followStatus(() => poll(id), 'output.task_status', 'SUCCEEDED');
      const { body } = done;
      expect(statuses).to.eql(['PENDING', 'RUNNING', 'SUCCEEDED']);
      expect(body['usage']).to.include({ duration: 7, output_video_duration: 7, SR: 480, fps: 30 });
      const file = await fetch(String(at(body, 'output.video_url')));
      expect(file.headers.get('content-type')).to.equal('video/mp4');
    });

    it('charges the seconds of a reference video as well', async () => {
      const body = await finish('', { input: { media: [VIDEO] }, parameters: { duration: 4 } });
      const seconds = { duration: 9, output_video_duration: 4, input_video_duration: 5 };
      expect(body['usage']).to.include(seconds);
    });

    it('reports the prompt as it was sent, white space included', async () => {
      const prompt = `${newPrompt('seconds=0').prompt} \n `;
      expect(at(await finish('', { input: { prompt } }), 'output.orig_prompt')).to.equal(prompt);
    });

    it('answers 200 for an unknown task', async () => {
      const { status, body } = await poll('3f6f63a1');
      expect(status).to.equal(200);
      expect(body['output']).to.eql({ task_id: '3f6f63a1', task_status: 'UNKNOWN' });
    });

    for (const [directives, status, code] of [
      ['outcome=fail', 'FAILED', 'InternalError'],
      ['outcome=fail reason=invalid', 'FAILED', 'InvalidParameter'],
      ['outcome=fail reason=quota', 'FAILED', 'Arrearage'],
      ['outcome=fail reason=concurrency', 'FAILED', 'Throttling'],
      ['outcome=fail reason=moderation', 'FAILED', 'DataInspectionFailed'],
      ['outcome=moderated', 'FAILED', 'DataInspectionFailed'],
      ['outcome=cancelled', 'CANCELED', undefined],
      ['outcome=expire', 'UNKNOWN', undefined],
    ] as const)
      it(`ends ${status} ${code ?? ''} for ${directives}`, async () => {
        const body = await finish(directives);
        expect([at(body, 'output.task_status'), at(body, 'output.code')]).to.eql([status, code]);
        expect(body).not.to.have.property('usage');
      });

    it('shows internal details with text=leaky, in failures and in refusals', async () => {
      const failure = at(await finish('outcome=fail text=leaky'), 'output.message');
      const refusal = (await submit('submit=500 text=leaky')).body['message'];
      expectSensitive(failure);
      expectSensitive(refusal);
    });

    itDistortsUsage(5, async (directives) => at(await finish(directives), 'usage.duration'));
  });

  describe('GET /tasks', () => {
    it('lists tasks, newest first, without their prompts', async () => {
      const model = 'wan3.0-video-prime';
      const ids = [await start('seconds=0', { model }), await start('seconds=600', { model })];
      const list = async (query: string): Promise<Json[]> =>
        (await ask(url(`/tasks/?model_name=${model}&${query}`))).body['data'] as Json[];
      const idsOf = (entries: Json[]): unknown[] => entries.map(({ task_id: id }) => id);
      expect(idsOf(await list(''))).to.eql(ids.toReversed());
      expect(idsOf(await list('page_no=2&page_size=1'))).to.eql([ids[0]]);
      expect(idsOf(await list('status=PENDING'))).to.eql([ids[1]]);
      expect(JSON.stringify(await list(''))).not.to.contain('in the snow');
    });
  });

  describe('POST /tasks/{id}/cancel', () => {
    it('cancels only pending tasks', async () => {
      const pending = await start('seconds=600');
      expect((await cancel(pending)).body).to.have.all.keys('request_id');
      expect(at((await poll(pending)).body, 'output.task_status')).to.equal('CANCELED');
      for (const directives of ['seconds=0 outcome=stuck', 'seconds=0', 'seconds=600 cancel=too_late']) {
        const { status, body } = await cancel(await start(directives));
        expect([status, body['code']]).to.eql([400, 'UnsupportedOperation']);
      }
    });
  });
});
