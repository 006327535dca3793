// Kling as the sandbox plays it, in both of its APIs.

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
import { itBreaksConnections, itRefusesWithoutJob, type Submissions } from '../vendor-rules.ts';

const PICTURE = 'https://example.com/fox.png';

describe('sandbox: Kling', () => {
  const sandbox = useSandbox();

  const base = (): string => `${sandbox().url}/kling`;

  const post = (path: string, body: Json, key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${base()}${path}`, { method: 'POST', key, body });

  const legacy = (directives: string, fields: Json = {}, kind = 'text2video'): Promise<HttpAnswer> =>
    post(`/v1/videos/${kind}`, { model_name: 'kling-v2-6', prompt: newPrompt(directives).prompt, ...fields });

  const pollLegacy = (id: string, kind = 'text2video', key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${base()}/v1/videos/${kind}/${id}`, { key });

  const three = (
    directives: string,
    fields: Json = {},
    path = '/text-to-video/kling-3.0',
  ): Promise<HttpAnswer> => post(path, { prompt: newPrompt(directives).prompt, ...fields });

  const list = (query: string, key = 'sk-test'): Promise<HttpAnswer> =>
    ask(`${base()}/tasks?${query}`, { key });

  async function finishLegacy(directives: string, fields: Json = {}): Promise<unknown> {
    const answer = await legacy(`seconds=0 ${directives}`, fields);
    expect(answer.status, answer.text).to.equal(200);
    return at((await pollLegacy(String(at(answer.body, 'data.task_id')))).body, 'data');
  }

  async function finishThree(directives: string, settings: Json = {}): Promise<unknown> {
    const answer = await three(`seconds=0 ${directives}`, { settings });
    expect(answer.status, answer.text).to.equal(200);
    return at((await list(`task_ids=${String(at(answer.body, 'data.id'))}`)).body, 'data.0');
  }

  describe('the flat API', () => {
    it('goes from submitted over processing to succeed in the flat API', async () => {
      const answer = await legacy('seconds=0.4', { duration: '10', mode: 'pro', sound: 'on' });
      expect(answer.body).to.include({ code: 0 });
      expect(at(answer.body, 'data.task_status')).to.equal('submitted');
      const id = String(at(answer.body, 'data.task_id'));
      const { statuses, done } = await followStatus(() => pollLegacy(id), 'data.task_status', 'succeed');
      expect(statuses).to.eql(['submitted', 'processing', 'succeed']);
      expect(at(done.body, 'data.final_unit_deduction')).to.equal('10');
      expect(at(done.body, 'data.task_result.videos.0.duration')).to.equal('10.041');
      const url = String(at(done.body, 'data.task_result.videos.0.url'));
      expect((await fetch(url)).headers.get('content-type')).to.equal('video/mp4');
    });

    const image = { prompt: 'a', model_name: 'kling-v2-6', image: PICTURE };

    for (const [fields, field, kind] of [
      [{ duration: 5 }, 'duration', 'text2video'],
      [{ duration: '7' }, 'duration', 'text2video'],
      [{ mode: 'ultra' }, 'mode', 'text2video'],
      [{ sound: 'on' }, 'sound', 'text2video'],
      [{ sound: 'on', mode: 'pro', model_name: 'kling-v2-5-turbo' }, 'sound', 'text2video'],
      [{ aspect_ratio: '4:3' }, 'aspect_ratio', 'text2video'],
      [{ model_name: 'kling-v9' }, 'model_name', 'text2video'],
      [{ prompt: 'x'.repeat(2501) }, 'prompt', 'text2video'],
      [{ seed: 7 }, 'seed', 'text2video'],
      [{ ...image, aspect_ratio: '16:9' }, 'aspect_ratio', 'image2video'],
      [{ ...image, image: 'data:image/png;base64,AAAA' }, 'image', 'image2video'],
      [{ ...image, image: undefined, image_tail: PICTURE }, 'image', 'image2video'],
    ] as const) {
      it(`refuses ${JSON.stringify(fields).slice(0, 50)} in the flat API and names the field`, async () => {
        const answer = await legacy('', fields, kind);
        expect([answer.status, answer.body['code']]).to.eql([400, 1201]);
        expect(String(answer.body['message'])).to.match(new RegExp(`^${field}:`));
      });
    }
  });

  describe('the API since 3.0', () => {
    it('goes from submitted to succeeded in the API since 3.0', async () => {
      const settings = { resolution: '1080p', duration: 3, audio: 'native', aspect_ratio: '9:16' };
      expect(await finishThree('', settings)).to.deep.include({
        status: 'succeeded',
        billing: [{ charge_type: 'unit', amount: '3.6', package_type: 'video' }],
      });
      const waiting = await three('seconds=600');
      expect(at(waiting.body, 'data.status')).to.equal('submitted');
    });

    const prompt = { type: 'prompt', text: 'a fox' };

    const frame = { type: 'first_frame', url: PICTURE };

    for (const [path, fields, field] of [
      ['/text-to-video/kling-3.0', { prompt: 'a', settings: { duration: '5' } }, 'settings.duration'],
      ['/text-to-video/kling-3.0', { prompt: 'a', settings: { duration: 2 } }, 'settings.duration'],
      [
        '/text-to-video/kling-3.0-turbo',
        { prompt: 'a', settings: { resolution: '4k' } },
        'settings.resolution',
      ],
      ['/text-to-video/kling-3.0-turbo', { prompt: 'a', settings: { audio: 'off' } }, 'settings.audio'],
      ['/text-to-video/kling-3.0', { prompt: 'a', settings: { fps: 24 } }, 'settings.fps'],
      ['/text-to-video/kling-3.0', { contents: [prompt] }, 'contents'],
      ['/image-to-video/kling-3.0', { contents: [prompt] }, 'contents'],
      [
        '/image-to-video/kling-3.0-turbo',
        { contents: [prompt, { type: 'first_frame', url: 'AAAA' }] },
        'contents\\[1\\].url',
      ],
      [
        '/image-to-video/kling-3.0',
        { contents: [prompt, frame, { type: 'refer_image', url: PICTURE }] },
        'contents\\[2\\].type',
      ],
      ['/omni-video/kling-3.0-omni', { prompt: 'a', contents: [prompt] }, 'prompt'],
      [
        '/omni-video/kling-3.0-omni',
        { contents: [prompt, { type: 'feature_video', url: PICTURE }], settings: { audio: 'native' } },
        'settings.audio',
      ],
    ] as const) {
      it(`refuses ${path} with ${JSON.stringify(fields).slice(0, 60)} and names the field`, async () => {
        const answer = await post(path, fields);
        expect([answer.status, answer.body['code']], answer.text).to.eql([400, 1201]);
        expect(String(answer.body['message'])).to.match(new RegExp(`^${field}:`));
      });
    }
  });

  describe('submissions to either API', () => {
    it('prices by model, resolution, sound and input video', async () => {
      const units = async (path: string, body: Json): Promise<unknown> => {
        const answer = await post(path, body);
        expect(answer.status, answer.text).to.equal(200);
        const id = String(at(answer.body, 'data.id'));
        return at((await list(`task_ids=${id}`)).body, 'data.0.billing.0.amount');
      };
      const text = newPrompt('seconds=0').prompt;
      const contents = [{ type: 'prompt', text }];
      const video = { type: 'feature_video', url: 'https://example.com/a.mp4' };
      expect(await units('/text-to-video/kling-3.0-turbo', { prompt: text })).to.equal('4');
      expect(await units('/omni-video/kling-3.0-omni', { contents })).to.equal('3');
      expect(await units('/omni-video/kling-3.0-omni', { contents: [...contents, video] })).to.equal('4.5');
      expect(at(await finishLegacy('', { mode: 'std' }), 'final_unit_deduction')).to.equal('1.5');
    });

    it('knows a task by the customer’s own id and refuses a second one of it', async () => {
      const own = { external_task_id: 'mine-1' };
      const first = await legacy('seconds=0', own);
      const id = at(first.body, 'data.task_id');
      expect(at(first.body, 'data.task_info.external_task_id')).to.equal('mine-1');
      expect(at((await pollLegacy('mine-1')).body, 'data.task_id')).to.equal(id);
      expect((await pollLegacy('mine-1', 'image2video')).status).to.equal(404);
      expect((await pollLegacy('mine-1', 'text2video', 'another-key')).status).to.equal(404);
      const second = await legacy('seconds=0', own);
      expect([second.status, second.body['code']]).to.eql([400, 1201]);
      expect(second.body['message']).to.contain('already exists');
      const newer = await three('seconds=0', { options: { external_task_id: 'mine-2' } });
      const found = await list('external_task_ids=mine-2,unknown');
      expect(at(found.body, 'data')).to.have.length(1);
      expect(at(found.body, 'data.0.id')).to.equal(at(newer.body, 'data.id'));
      expect(at((await list('external_task_ids=unknown')).body, 'data')).to.eql([]);
    });

    it('wants a key, and a token of its time', async () => {
      const token = (exp: number, nbf: number): string => {
        const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');
        const now = Math.floor(Date.now() / 1000);
        return `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'AK', exp: now + exp, nbf: now + nbf })}.sig`;
      };
      const codeWith = async (key: string): Promise<unknown> => (await list('task_ids=1', key)).body['code'];
      expect(await codeWith('')).to.equal(1002);
      expect(await codeWith('invalid')).to.equal(1002);
      expect(await codeWith(token(1800, -5))).to.equal(0);
      expect(await codeWith(token(-1, -5))).to.equal(1004);
      expect(await codeWith(token(1800, 60))).to.equal(1003);
    });

    const submissions: Submissions = {
      sandbox,
      submit: (text) => post('/text-to-video/kling-3.0', { prompt: text }),
    };

    itRefusesWithoutJob(
      submissions,
      [
        ['400', 400, 1201],
        ['401', 401, 1002],
        ['402', 429, 1101],
        ['403', 403, 1103],
        ['429', 429, 1302],
        ['500', 500, 5000],
        ['503', 503, 5001],
      ],
      ({ status, body }) => [status, body['code']],
    );

    itBreaksConnections(submissions);

    it('answers without data with submit=no_id', async () => {
      expect(at((await three('submit=no_id')).body, 'data')).to.eql({});
    });
  });

  describe('tasks of either API', () => {
    it('fails with a text alone, and shows internal details with text=leaky', async () => {
      for (const [directives, words] of [
        ['outcome=fail', 'could not be generated'],
        ['outcome=fail reason=quota', 'balance'],
        ['outcome=fail reason=concurrency', 'Parallel task'],
        ['outcome=moderated', 'risk control'],
        ['outcome=cancelled', 'cancelled'],
      ] as const) {
        expect(await finishLegacy(directives), directives).to.include({ task_status: 'failed' });
        expect(at(await finishLegacy(directives), 'task_status_msg')).to.contain(words);
        expect(await finishThree(directives))
          .to.include({ status: 'failed' })
          .and.not.to.have.property('billing');
      }
      const failure = at(await finishThree('outcome=fail text=leaky'), 'message');
      const refusal = (await three('submit=500 text=leaky')).body['message'];
      expectSensitive([failure, refusal].join());
    });

    it('forgets a task that expired, and applies the directives poll, usage, deliver and result', async () => {
      expect(await finishThree('outcome=expire')).to.equal(undefined);
      expect(await finishThree('poll=weird')).to.include({ status: 'simmering' });
      expect(at(await finishThree('usage=text'), 'billing.0.amount')).to.equal('plenty');
      expect(at(await finishLegacy('usage=negative'), 'final_unit_deduction')).to.equal('-1.5');
      expect(await finishLegacy('usage=missing')).not.to.have.property('final_unit_deduction');
      expect(at(await finishThree('deliver=0'), 'outputs')).to.eql([]);
      expect(at(await finishThree('result=missing'), 'outputs.0')).not.to.have.property('url');
      const id = at((await legacy('seconds=0 poll=500*1')).body, 'data.task_id');
      expect((await pollLegacy(String(id))).body['code']).to.equal(5000);
      expect((await pollLegacy(String(id))).body['code']).to.equal(0);
    });

    it('knows no other path and no cancelling', async () => {
      expect((await ask(`${base()}/nothing`)).body['code']).to.equal(1203);
      expect((await ask(`${base()}/v1/videos/lip-sync/1`)).status).to.equal(404);
      const id = at((await legacy('seconds=0')).body, 'data.task_id');
      const cancelling = await ask(`${base()}/v1/videos/text2video/${String(id)}`, { method: 'DELETE' });
      expect([cancelling.status, cancelling.body['code']]).to.eql([405, 1202]);
    });
  });
});
