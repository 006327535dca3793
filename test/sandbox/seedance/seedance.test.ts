// Seedance on Ark as the sandbox plays it.

import { expect } from 'chai';
import {
  ask,
  at,
  expectSensitive,
  followStatus,
  type HttpAnswer,
  isCutOff,
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

const MODEL = 'dreamina-seedance-2-0-260128';
const IMAGE = { type: 'image_url', image_url: { url: 'https://example.com/fox.png' } };
const FRAME = { ...IMAGE, role: 'first_frame' };
const REFERENCE = { ...IMAGE, role: 'reference_image' };
const VIDEO = {
  type: 'video_url',
  video_url: { url: 'https://example.com/fox.mp4' },
  role: 'reference_video',
};

describe('sandbox: Seedance', () => {
  const sandbox = useSandbox();

  const url = (path = ''): string => `${sandbox().url}/ark/api/v3/contents/generations/tasks${path}`;

  const withText = (prompt: string, ...more: Json[]): Json[] => [{ type: 'text', text: prompt }, ...more];

  const submit = (directives: string, fields: Json = {}, ...more: Json[]): Promise<HttpAnswer> => {
    const content = withText(newPrompt(directives).prompt, ...more);
    return ask(url(), { method: 'POST', body: { model: MODEL, content, ...fields } });
  };

  const poll = (id: string, key = 'ark'): Promise<HttpAnswer> => ask(url(`/${id}`), { key });

  const remove = (id: string): Promise<HttpAnswer> => ask(url(`/${id}`), { method: 'DELETE' });

  async function start(directives: string, fields: Json = {}, ...more: Json[]): Promise<string> {
    const answer = await submit(directives, fields, ...more);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body).to.have.all.keys('id');
    return String(answer.body['id']);
  }

  async function finish(directives: string, fields: Json = {}, ...more: Json[]): Promise<HttpAnswer> {
    return poll(await start(`seconds=0 ${directives}`, fields, ...more));
  }

  describe('POST /tasks', () => {
    it('chooses the duration on 2.5 where none is sent', async () => {
      const { body } = await finish('', { model: 'doubao-seedance-2-5-260628', resolution: '1080p' });
      expect(body).to.include({ duration: 30, resolution: '1080p' });
    });

    it('lets options in the prompt win over parameters', async () => {
      const { prompt } = newPrompt('seconds=0');
      const content = withText(`${prompt} --dur 15 --rs 480p`);
      const order = { model: MODEL, content, duration: 4, resolution: '720p' };
      const answer = await ask(url(), { method: 'POST', body: order });
      expect((await poll(String(answer.body['id']))).body).to.include({ duration: 15, resolution: '480p' });
    });

    const refusals: [fields: Json, field: string, ...more: Json[]][] = [
      [{ duration: 16 }, 'duration'],
      [{ duration: '5' }, 'duration'],
      [{ model: 'seedance-1-0-pro-250528', duration: -1 }, 'duration'],
      [{ resolution: '720P' }, 'resolution'],
      [{ model: 'dreamina-seedance-2-0-mini-260615', resolution: '1080p' }, 'resolution'],
      [{ ratio: '2:1' }, 'ratio'],
      [{ model: 'seedance-1-0-pro-250528', ratio: 'adaptive' }, 'ratio'],
      [{ model: 'dreamina-seedance-2-5-260628', ratio: '16:9' }, 'ratio', FRAME],
      [{ model: 'seedance-1-0-pro-250528', seed: 2 ** 31 }, 'seed'],
      [{ seed: 11 }, 'seed'],
      [{ camera_fixed: true }, 'camera_fixed'],
      [{ safety_identifier: 'x'.repeat(65) }, 'safety_identifier'],
      [
        { model: 'dreamina-seedance-2-5-260628', duration: 5, ratio: '16:9' },
        'omni_reference_task_type',
        VIDEO,
      ],
      [{ generate_audio: 'yes' }, 'generate_audio'],
      [{ model: 'seedance-1-0-pro-250528', generate_audio: true }, 'generate_audio'],
      [{ prompt: 'a fox' }, 'prompt'],
      [{ model: 'seedance-9' }, 'model'],
      [{ content: [] }, 'content'],
      [{}, 'content[1].role', IMAGE],
      [{}, 'content[1].image_url.url', { ...FRAME, image_url: { url: 'fox.png' } }],
      [{}, 'content', FRAME, REFERENCE],
      [{}, 'content', { ...IMAGE, role: 'last_frame' }],
      [{ model: 'seedance-1-5-pro-251215' }, 'model'],
      [{ model: 'seedance-1-0-pro-250528' }, 'content', VIDEO],
      [{}, 'content', ...Array.from({ length: 10 }, () => REFERENCE)],
    ];

    for (const [fields, field, ...more] of refusals)
      it(`refuses ${JSON.stringify({ ...fields, more }).slice(0, 70)} and names ${field}`, async () => {
        const answer = await submit('', fields, ...more);
        expect(answer.status).to.equal(field === 'model' ? 404 : 400);
        expect(at(answer.body, 'error')).to.have.all.keys('code', 'message', 'param', 'type');
        expect(at(answer.body, 'error.param')).to.equal(field);
      });

    const submissions: Submissions = {
      sandbox,
      submit: (prompt) => ask(url(), { method: 'POST', body: { model: MODEL, content: withText(prompt) } }),
    };

    itRefusesWithoutJob(
      submissions,
      [
        ['400', 400, 'InvalidParameter'],
        ['401', 401, 'AuthenticationError'],
        ['402', 402, 'AccountOverdueError'],
        ['403', 403, 'AccessDenied'],
        ['429', 429, 'RateLimitExceeded.EndpointRPMExceeded'],
        ['500', 500, 'InternalServiceError'],
        ['503', 503, 'ServiceUnavailable'],
      ],
      ({ status, body }) => [status, at(body, 'error.code')],
    );

    itBreaksConnections(submissions);
  });

  describe('GET /tasks/{id}', () => {
    it('goes from queued over running to a video with its tokens', async () => {
      const id = await start('seconds=0.4', {
        duration: 5,
        resolution: '720p',
        ratio: '16:9',
        safety_identifier: 'mine',
      });
      expect(id).to.match(/^cgt-/);
      const { statuses, done } = await followStatus(() => poll(id), 'status', 'succeeded');
      const { body } = done;
      expect(statuses).to.eql(['queued', 'running', 'succeeded']);
      expect(body).to.include({ model: MODEL, safety_identifier: 'mine', resolution: '720p', duration: 5 });
      expect(body['usage']).to.eql({ completion_tokens: 108_900, total_tokens: 108_900 });
      const file = await fetch(String(at(body, 'content.video_url')));
      expect(file.headers.get('content-type')).to.equal('video/mp4');
    });

    it('counts the pixels of every frame, those of input videos included', async () => {
      const tokens = async (fields: Json, ...more: Json[]): Promise<unknown> =>
        at((await finish('', fields, ...more)).body, 'usage.completion_tokens');
      expect(await tokens({ model: 'seedance-1-0-pro-250528', resolution: '1080p' })).to.equal(246_840);
      expect(await tokens({ resolution: '480p', ratio: '21:9', duration: 4 })).to.equal(40_594);
      expect(await tokens({ resolution: '720p', ratio: '16:9' }, VIDEO)).to.equal(216_900);
    });

    for (const [directives, code] of [
      ['outcome=fail', 'InternalServiceError'],
      ['outcome=fail reason=invalid', 'InvalidParameter'],
      ['outcome=fail reason=quota', 'AccountOverdueError'],
      ['outcome=fail reason=concurrency', 'QuotaExceeded'],
      ['outcome=fail reason=moderation', 'InputImageSensitiveContentDetected.PrivacyInformation'],
      ['outcome=moderated', 'OutputVideoSensitiveContentDetected'],
    ] as const)
      it(`fails with ${code} for ${directives}, in a 200 and without usage`, async () => {
        const { status, body } = await finish(directives);
        expect([status, body['status'], at(body, 'error.code')]).to.eql([200, 'failed', code]);
        expect(body).not.to.have.property('usage');
      });

    it('has statuses for expired and cancelled, and an unknown one with poll=weird', async () => {
      expect((await finish('outcome=expire')).body['status']).to.equal('expired');
      expect((await finish('outcome=cancelled')).body['status']).to.equal('cancelled');
      expect((await finish('poll=weird')).body['status']).to.equal('simmering');
    });

    it('shows internal details with text=leaky, in failures and in refusals', async () => {
      const failure = at((await finish('outcome=fail text=leaky')).body, 'error.message');
      const refusal = at((await submit('submit=500 text=leaky')).body, 'error.message');
      expectSensitive(failure);
      expectSensitive(refusal);
    });

    itDistortsUsage(108_900, async (directives) => {
      const { body } = await finish(directives, { duration: 5, resolution: '720p', ratio: '16:9' });
      return at(body, 'usage.total_tokens');
    });
  });

  describe('GET /tasks', () => {
    it('lists tasks, newest first, by page, model, status and id', async () => {
      const model = 'seedance-1-0-pro-fast-251015';
      const ids = [await start('seconds=0', { model }), await start('seconds=600', { model })];
      const list = async (query: string): Promise<unknown[]> => {
        const { body } = await ask(url(`?${query}`));
        return (body['items'] as Json[]).map(({ id }) => id);
      };
      expect(await list(`filter.model=${model}`)).to.eql(ids.toReversed());
      expect(await list(`filter.model=${model}&page_num=2&page_size=1`)).to.eql([ids[0]]);
      expect(await list(`filter.model=${model}&filter.status=queued`)).to.eql([ids[1]]);
      expect(await list(`filter.task_ids=${ids[0]}&filter.task_ids=x`)).to.eql([ids[0]]);
      expect((await ask(url(), { key: null })).status).to.equal(401);
    });
  });

  describe('DELETE /tasks/{id}', () => {
    it('deletes what is queued, refuses what is running, and erases what is done', async () => {
      const queued = await start('seconds=600');
      expect((await remove(queued)).status).to.equal(200);
      expect((await poll(queued)).body['status']).to.equal('cancelled');
      const running = await start('seconds=0 outcome=stuck');
      expect((await remove(running)).status).to.equal(409);
      const done = await start('seconds=0');
      expect((await remove(done)).status).to.equal(200);
      expect((await poll(done)).status).to.equal(404);
      expect((await remove(await start('seconds=600 cancel=too_late'))).status).to.equal(409);
      const hanging = await start('seconds=600 cancel=hang');
      const signal = AbortSignal.timeout(100);
      expect(await isCutOff(ask(url(`/${hanging}`), { method: 'DELETE', signal }))).to.equal(true);
    });
  });
});
