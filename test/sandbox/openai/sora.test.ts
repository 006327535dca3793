// OpenAI's Videos API as the sandbox plays it, and as OpenAI's own client finds it.

import { expect } from 'chai';
import OpenAI, { toFile } from 'openai';
import { encodePng } from '../../../sandbox/png.ts';
import {
  ask,
  at,
  expectSensitive,
  followStatus,
  type HttpAnswer,
  type Json,
  newPrompt,
  readJournal,
  useSandbox,
} from '../support.ts';
import { itBreaksConnections, itRefusesWithoutJob, type Submissions } from '../vendor-rules.ts';
import { OPENAI_REFUSALS, readOpenaiRefusal } from './refusals.ts';

const png = (width: number, height: number): Buffer =>
  encodePng({ width, height, hue: 200, transparent: false });

describe('sandbox: OpenAI’s videos', () => {
  const sandbox = useSandbox();

  const url = (path = ''): string => `${sandbox().url}/openai/v1/videos${path}`;

  const submit = (directives: string, fields: Json = {}): Promise<HttpAnswer> =>
    ask(url(), {
      method: 'POST',
      body: { model: 'sora-2', prompt: newPrompt(directives).prompt, ...fields },
    });

  const poll = (id: string): Promise<HttpAnswer> => ask(url(`/${id}`));

  const content = (id: string, query = '', key: string | null = 'sk-test'): Promise<HttpAnswer> =>
    ask(url(`/${id}/content${query}`), { key });

  async function start(directives: string, fields: Json = {}): Promise<string> {
    const answer = await submit(directives, fields);
    expect(answer.status, answer.text).to.equal(200);
    return String(answer.body['id']);
  }

  const finish = async (directives: string): Promise<HttpAnswer> =>
    poll(await start(`seconds=0 ${directives}`));

  describe('POST /v1/videos', () => {
    const refusals: [fields: Json, field: string][] = [
      [{ prompt: '' }, 'prompt'],
      [{ prompt: 'x'.repeat(32_001) }, 'prompt'],
      [{ model: 'sora-3' }, 'model'],
      [{ seconds: 8 }, 'seconds'],
      [{ seconds: '5' }, 'seconds'],
      [{ size: '1080x1920' }, 'size'],
      [{ model: 'sora-2-pro', size: '640x480' }, 'size'],
      [{ input_reference: 'x' }, 'input_reference'],
      [{ input_reference: { image_url: 'ftp://x' } }, 'input_reference'],
      [{ input_reference: { image_url: 'https://example.com/a.png', file_id: 'f' } }, 'input_reference'],
      [{ n: 2 }, 'n'],
      [{ seed: 1 }, 'seed'],
    ];

    for (const [fields, field] of refusals)
      it(`refuses ${JSON.stringify(fields).slice(0, 60)} and names the field`, async () => {
        const answer = await submit('', fields);
        expect(answer.status).to.equal(400);
        expect(at(answer.body, 'error')).to.include({ type: 'invalid_request_error', param: field });
      });

    it('takes a first frame of exactly the size ordered', async () => {
      const send = async (image: Buffer, type = 'image/png'): Promise<HttpAnswer> => {
        const form = new FormData();
        const fields = { model: 'sora-2', prompt: newPrompt('').prompt, seconds: '4', size: '1280x720' };
        for (const [name, value] of Object.entries(fields)) form.append(name, value);
        form.append('input_reference', new Blob([new Uint8Array(image)], { type }), 'frame.png');
        return ask(url(), { method: 'POST', body: form });
      };
      expect((await send(png(1280, 720))).status).to.equal(200);
      expect((await send(Buffer.from('a picture'), 'image/jpeg')).status).to.equal(200);
      for (const answer of [
        await send(png(720, 1280)),
        await send(Buffer.from('x')),
        await send(png(1280, 720), 'text/html'),
      ])
        expect(at(answer.body, 'error.param')).to.equal('input_reference');
    });

    const submissions: Submissions = {
      sandbox,
      submit: (prompt) => ask(url(), { method: 'POST', body: { model: 'sora-2', prompt } }),
    };

    itRefusesWithoutJob(submissions, OPENAI_REFUSALS, readOpenaiRefusal);

    itBreaksConnections(submissions);
  });

  describe('GET /v1/videos/{id}', () => {
    it('goes from queued over in_progress to a video that only the key can fetch', async () => {
      const created = await submit('seconds=0.4', { seconds: '8', size: '1280x720' });
      expect(created.body).to.include({ object: 'video', status: 'queued', progress: 0, model: 'sora-2' });
      expect(created.body).to.include({ seconds: '8', size: '1280x720', error: null, completed_at: null });
      const id = String(created.body['id']);
      expect(id).to.match(/^video_/);
      expect((await content(id)).status).to.equal(400);
      const { statuses, done } = await followStatus(() => poll(id), 'status', 'completed');
      expect(statuses).to.eql(['queued', 'in_progress', 'completed']);
      expect(done.body).to.include({ progress: 100, seconds: '8' }).and.not.have.any.keys('url', 'video_url');
      expect(Number(done.body['expires_at']) - Number(done.body['completed_at'])).to.equal(3_600);
      expect((await content(id, '', null)).status).to.equal(401);
      expect((await content(id)).headers.get('content-type')).to.equal('video/mp4');
      expect((await content(id, '?variant=thumbnail')).headers.get('content-type')).to.equal('image/webp');
      expect((await content(id, '?variant=poster')).status).to.equal(400);
    });

    for (const [directives, code] of [
      ['outcome=fail', 'internal_error'],
      ['outcome=fail reason=invalid', 'invalid_reference'],
      ['outcome=fail reason=quota', 'insufficient_quota'],
      ['outcome=fail reason=concurrency', 'concurrency_limit'],
      ['outcome=fail reason=moderation', 'moderation_blocked'],
      ['outcome=moderated', 'moderation_blocked'],
    ] as const)
      it(`fails as ${code} with ${directives}`, async () => {
        const { status, body } = await finish(directives);
        expect(status).to.equal(200);
        expect(body).to.include({ status: 'failed', completed_at: null });
        expect(at(body, 'error.code')).to.equal(code);
      });

    it('has statuses for expired and cancelled, and an unknown one with poll=weird', async () => {
      expect((await finish('outcome=expire')).body['status']).to.equal('expired');
      expect((await finish('outcome=cancelled')).body['status']).to.equal('cancelled');
      expect((await finish('poll=weird')).body['status']).to.equal('simmering');
    });

    it('shows internal details with text=leaky, and a private link with result=private', async () => {
      const message = at((await finish('outcome=fail text=leaky')).body, 'error.message');
      expectSensitive(message);
      expect((await finish('result=private')).body['video_url']).to.match(/^http:\/\/10\./);
    });
  });

  describe('GET /v1/videos', () => {
    it('lists every job, newest first, page by page', async () => {
      const marker = newPrompt('').prompt;
      const ids: string[] = [];
      for (const _ of [1, 2, 3]) ids.unshift(await start('', { prompt: marker }));
      const first = (await ask(url('?limit=2'))).body;
      expect(first).to.include({ object: 'list', has_more: true, first_id: ids[0], last_id: ids[1] });
      expect(at(first, 'data.0')).to.include({ id: ids[0], prompt: marker, seconds: '4', size: '720x1280' });
      const next = (await ask(url(`?limit=2&after=${ids[1]}`))).body;
      expect(at(next, 'data.0.id')).to.equal(ids[2]);
      expect((await ask(url('?limit=101'))).status).to.equal(400);
    });
  });

  describe("OpenAI's own client", () => {
    const client = (): OpenAI =>
      new OpenAI({ baseURL: `${sandbox().url}/openai/v1`, apiKey: 'sk-test', maxRetries: 0 });

    it('makes a video from a first frame, polls it and downloads it', async () => {
      const { prompt, marker } = newPrompt('seconds=0');
      const input_reference = await toFile(png(1792, 1024), 'frame.png', { type: 'image/png' });
      const video = await client().videos.create({
        ...{ model: 'sora-2-pro', prompt, seconds: '12', size: '1792x1024' },
        input_reference,
      });
      expect(video).to.include({ object: 'video', status: 'queued', seconds: '12', size: '1792x1024' });
      expect(await client().videos.retrieve(video.id)).to.include({ status: 'completed', progress: 100 });
      const file = await client().videos.downloadContent(video.id);
      expect(Buffer.from(await file.arrayBuffer()).toString('latin1', 4, 8)).to.equal('ftyp');
      const operations = (await readJournal(sandbox(), marker)).map(({ operation }) => operation);
      expect(operations).to.eql(['submit', 'poll', 'download']);
    });

    it('goes through the list, page after page', async () => {
      const prompt = newPrompt('').prompt;
      for (const _ of [1, 2, 3]) await client().videos.create({ prompt });
      const found: string[] = [];
      for await (const video of client().videos.list({ limit: 2 }))
        if (video.prompt === prompt) found.push(video.id);
      expect(found).to.have.length(3);
    });

    it('throws its own error classes', async () => {
      const create = (directives: string): Promise<unknown> =>
        client()
          .videos.create({ prompt: newPrompt(directives).prompt })
          .catch((error: unknown) => error);
      expect(await create('submit=401')).to.be.instanceOf(OpenAI.AuthenticationError);
      expect(await create('submit=429')).to.be.instanceOf(OpenAI.RateLimitError);
      expect(await create('submit=500')).to.be.instanceOf(OpenAI.InternalServerError);
      const missing = await client()
        .videos.retrieve('video_none')
        .catch((error: unknown) => error);
      expect(missing).to.be.instanceOf(OpenAI.NotFoundError);
    });
  });
});
