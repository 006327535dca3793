// `Prefer: wait`: creations and reads that are answered when the task has ended.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateImage } from 'ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { readWait } from '../../../api/tasks/waiting.ts';
import { readPoolMetrics } from '../../../db/pool.ts';
import { StorageUnavailable } from '../../../storage/storage.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { failureOf } from '../../support/http/openai-client.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { installPackage, runScript } from '../../sandbox/sdk/python.ts';
import { until, untilFinal } from '../../support/until.ts';

const PYTHON_LIMIT_MS = 300_000;
const WAIT = { prefer: 'wait=60' };
const image = (directive = 'seconds=0') => ({
  model: 'gpt-image-2',
  prompt: `a lighthouse [[sandbox ${directive}]]`,
});
const video = (directive = 'seconds=0') => ({
  model: 'grok-imagine-video',
  prompt: `waves [[sandbox ${directive}]]`,
  duration: 1,
});

describe('Prefer: wait', () => {
  let gateway: TestGateway;
  let user: TestUser;

  before(async () => {
    gateway = await startGateway();
    user = await gateway.createUser(5000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  it('answers a creation of images with what GET answers, and with OpenAI’s members', async () => {
    const { status, body, headers } = await user.key.post('/v1/images/generations', image(), WAIT);
    expect([status, headers.get('preference-applied')]).to.deep.equal([200, 'wait=60']);
    const { created, data, ...task } = body;
    expect(task).to.deep.equal((await user.key.get(`/v1/images/tasks/${body.id}`)).body);
    expect(created).to.equal(task.completed_at);
    expect(data).to.deep.equal([{ url: task.outputUrl }]);
    expect(task.creditsCharged).to.equal(4);
  });

  it('answers with the images themselves where they are ordered so', async () => {
    const order = { ...image(), response_format: 'b64_json' };
    const { body } = await user.key.post('/v1/images/generations', order, WAIT);
    expect(Buffer.from(body.data[0].b64_json, 'base64').length).to.be.above(100);
  });

  it('answers 202 as without it when the images to be put in cannot be read: an error would order them again', async () => {
    const { storage } = gateway.services;
    const away = (): never => {
      throw new StorageUnavailable(new Error('the bucket is away'));
    };
    gateway.services.storage = { ...storage, read: async () => away() };
    const order = { ...image(), response_format: 'b64_json' };
    const made = await user.key.post('/v1/images/generations', order, WAIT).finally(() => {
      gateway.services.storage = storage;
    });
    expect([made.status, made.headers.get('preference-applied')]).to.deep.equal([202, 'wait=60']);
    const read = await user.key.get(made.headers.get('location') ?? '');
    expect(read.body).to.deep.include({ id: made.body.id, status: 'completed', creditsCharged: 4 });
  });

  it('answers a creation of videos, and of tasks in the console, with what GET answers', async () => {
    const made = await user.key.post('/v1/videos/generations', video(), WAIT);
    expect(made.status).to.equal(200);
    expect(made.body).to.deep.equal((await user.key.get(`/v1/videos/tasks/${made.body.data.id}`)).body);
    const task = await user.session.post('/api/tasks', { mode: 'image', ...image() }, WAIT);
    expect([task.status, task.body.data.status]).to.deep.equal([200, 'completed']);
  });

  it('answers as without it after the time, and goes on', async () => {
    const made = await user.key.post('/v1/videos/generations', video('seconds=3'), { prefer: 'wait=1' });
    expect([made.status, made.headers.get('preference-applied')]).to.deep.equal([202, 'wait=1']);
    expect(made.headers.get('location')).to.equal(`/v1/videos/tasks/${made.body.data.id}`);
    const read = await user.key.get(`/v1/videos/tasks/${made.body.data.id}`, WAIT);
    expect([read.status, read.body.data.status]).to.deep.equal([200, 'completed']);
    expect(read.headers.get('preference-applied')).to.equal('wait=60');
  });

  it('answers reads of a task that fails with the task, and of one that has ended at once', async () => {
    const made = await user.key.post('/v1/images/generations', image('seconds=1 outcome=fail'));
    const read = await user.key.get(`/v1/images/tasks/${made.body.id}`, WAIT);
    expect([read.status, read.body.status]).to.deep.equal([200, 'failed']);
    const again = await user.key.get(`/v1/images/tasks/${made.body.id}`, WAIT);
    expect(again.headers.get('preference-applied')).to.equal('wait=60');
  });

  it('answers a creation whose task failed with the HTTP error of its code', async () => {
    for (const [directive, status, code] of [
      ['outcome=fail', 502, 'upstream_error'],
      ['outcome=moderated', 400, 'content_rejected'],
    ] as const) {
      const order = video(`seconds=0 ${directive}`);
      const answer = await user.key.post('/v1/videos/generations', order, WAIT);
      expectError(answer, status, code, null);
      const task = (await user.key.get(`/v1/videos/tasks/${answer.body.error.task_id}`)).body.data;
      expect([task.status, task.errorMessage]).to.deep.equal(['failed', answer.body.error.message]);
      expect(answer.headers.get('preference-applied')).to.equal('wait=60');
    }
  });

  it('answers a creation whose task was cancelled with 409', async () => {
    const waiting = user.session.post('/api/tasks', { mode: 'video', ...video('seconds=30') }, WAIT);
    const id = await until('the task runs', async () => {
      const { body } = await user.session.get('/api/tasks?status=in_progress');
      return body.data[0]?.id;
    });
    await user.session.delete(`/api/tasks/${id}`);
    const answer = await waiting;
    expectError(answer, 409, 'task_cancelled', null);
    expect(answer.body.error.task_id).to.equal(id);
  });

  it('repeats with the same Idempotency-Key, with or without it, have one task', async () => {
    const key = { 'idempotency-key': 'wait-once' };
    const first = await user.key.post('/v1/images/generations', image(), { ...key, ...WAIT });
    const again = await user.key.post('/v1/images/generations', image(), { ...key, ...WAIT });
    expect([again.status, again.body.id]).to.deep.equal([200, first.body.id]);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    const plain = await user.key.post('/v1/images/generations', image(), key);
    expect([plain.status, plain.body.id]).to.deep.equal([202, first.body.id]);
  });

  it('a repeat whose task has failed says that it is one, as any other', async () => {
    const order = video('seconds=0 outcome=fail');
    const key = { 'idempotency-key': 'wait-failed' };
    const first = await user.key.post('/v1/videos/generations', order, { ...key, ...WAIT });
    expectError(first, 502, 'upstream_error', null);
    expect(first.headers.get('idempotent-replayed')).to.equal(null);
    const again = await user.key.post('/v1/videos/generations', order, { ...key, ...WAIT });
    expectError(again, 502, 'upstream_error', null);
    expect(again.body.error.task_id).to.equal(first.body.error.task_id);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
  });

  it('holds no database connection, and cancels nothing when the caller leaves', async () => {
    const leaving = new AbortController();
    const calls = [1, 2, 3].map(() =>
      fetch(`${gateway.baseUrl}/v1/videos/generations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${user.apiKey}`,
          'content-type': 'application/json',
          ...WAIT,
        },
        body: JSON.stringify(video('seconds=3')),
        signal: leaving.signal,
      }).catch(() => undefined),
    );
    const { watcher } = gateway.services.events;
    await until('all wait', async () => watcher.counts().awaited === 3);
    await until('no connection is in use', async () => {
      const { open, idle } = readPoolMetrics(gateway.database);
      return open === idle;
    });
    leaving.abort();
    await Promise.all(calls);
    await until('no one waits', async () => watcher.counts().awaited === 0);
    const { body } = await user.session.get('/api/tasks?limit=3');
    for (const { id } of body.data) expect((await untilFinal(user.session, id)).status).to.equal('completed');
  });

  it('is refused with 429, before anything is created, when too many calls of the user wait', async () => {
    const other = await gateway.createUser(100);
    const { waits } = gateway.services.events;
    const releases = Array.from({ length: waits.max }, () => waits.take(other.id));
    const answer = await other.key.post('/v1/images/generations', image(), WAIT);
    expectError(answer, 429, 'rate_limited', null);
    expect((await other.session.get('/api/tasks')).body.data).to.deep.equal([]);
    for (const release of releases) release?.();
    expect((await other.key.post('/v1/images/generations', image(), WAIT)).status).to.equal(200);
  });

  for (const [header, seconds] of [
    ['wait=10', 10],
    ['respond-async, wait=5', 5],
    ['Wait = "7"; x=1', 7],
    ['wait=0', 0],
    ['wait=3600', 60],
    ['wait', null],
    ['wait=-1', null],
    ['wait=1.5', null],
    ['await=5', null],
    ['', null],
  ] as const)
    it(`reads ${JSON.stringify(header)} as ${seconds ?? 'no wait'}`, () =>
      expect(readWait(header)).to.equal(seconds));

  describe('as the one default header of a client', () => {
    it('makes images.generate of OpenAI’s client for Node work', async () => {
      const client = new OpenAI({
        apiKey: user.apiKey,
        baseURL: `${gateway.baseUrl}/v1`,
        defaultHeaders: WAIT,
        maxRetries: 0,
      });
      const { created, data } = await client.images.generate(image());
      expect(created).to.be.above(1_700_000_000);
      const file = await fetch(data?.[0]?.url ?? '');
      expect([file.status, file.headers.get('content-type')?.split('/')[0]]).to.deep.equal([200, 'image']);
      const order = { ...image(), response_format: 'b64_json' as const };
      expect((await client.images.generate(order)).data?.[0]?.b64_json).to.be.a('string');
      const refused = await failureOf(client.images.generate(image('outcome=moderated')));
      expect(refused).to.be.instanceOf(OpenAI.BadRequestError);
      expect(refused).to.include({ code: 'content_rejected' });
    });

    it('makes images.generate of OpenAI’s client for Python work', async function () {
      this.timeout(PYTHON_LIMIT_MS);
      const installed = await installPackage('openai==3.52.0');
      if (installed.kind === 'missing') {
        process.stderr.write(`skipped, since it cannot be installed: ${installed.why}\n`);
        this.skip();
      }
      const script = '../../api/v1/waiting.py';
      const url = `${gateway.baseUrl}/v1`;
      const made = await runScript(installed.folder, script, url, user.apiKey);
      expect((await fetch(String(made['url']))).status).to.equal(200);
      expect(made['refused']).to.equal('content_rejected');
    });

    it('makes generateImage of the AI SDK work', async () => {
      const provider = createOpenAICompatible({
        name: 'gateway',
        apiKey: user.apiKey,
        baseURL: `${gateway.baseUrl}/v1`,
        headers: WAIT,
      });
      const { model, prompt } = image();
      const { image: made } = await generateImage({
        model: provider.imageModel(model),
        prompt,
        maxRetries: 0,
      });
      expect(made.mediaType).to.match(/^image\//);
      expect(made.uint8Array.length).to.be.above(100);
    });
  });
});
