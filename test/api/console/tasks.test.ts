// The console's task queue: create, list, read, follow.
import { expect } from 'chai';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { untilFinal, untilStatus } from '../../support/until.ts';

const QUICK = '[[sandbox seconds=0]]';
const IMAGE = { mode: 'image', model: 'gpt-image-2', prompt: `a cat ${QUICK}` };
const VIDEO = { mode: 'video', model: 'grok-imagine-video', prompt: `a fox ${QUICK}`, duration: 1 };
type Entry = { id: string; status: string; mode: string };

describe('console tasks', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(5000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const create = async (body: object, user = owner) =>
    (await user.session.post('/api/tasks', body)).body.data.id;

  describe('POST /api/tasks', () => {
    it('answers 202 with the whole task, where what is not known yet is null', async () => {
      const { status, body, headers } = await owner.session.post('/api/tasks', IMAGE);
      expect(status).to.equal(202);
      const { id, createdAt, updatedAt } = body.data;
      expect(id).to.match(/^task_[0-9A-Z]{26}$/);
      expect(body).to.deep.equal({
        data: {
          id,
          keyId: null,
          mode: 'image',
          model: IMAGE.model,
          status: 'queued',
          progress: 0,
          creditsEstimate: 4,
          creditsCharged: 0,
          creditsRefunded: 0,
          billingMode: 'per_image',
          breakdown: { ordered: [{ item: '1K image', quantity: 1, credits: 4 }], charged: [] },
          upstreamTaskId: null,
          outputUrl: null,
          outputs: [],
          outputText: null,
          errorMessage: null,
          errorCode: null,
          requestPayload: IMAGE,
          attempt: 1,
          createdAt,
          updatedAt,
          startedAt: null,
          completedAt: null,
          cancelRequestedAt: null,
          resultExpiredAt: null,
        },
      });
      expect(headers.get('location')).to.equal(`/api/tasks/${id}`);
      expect(headers.get('retry-after')).to.equal('2');
      await untilFinal(owner.session, id);
    });

    const refusals: [title: string, body: object, status: number, code: string, param: string][] = [
      ['no mode', { ...IMAGE, mode: undefined }, 400, 'missing_field', 'mode'],
      ['an unknown mode', { ...IMAGE, mode: 'sound' }, 400, 'invalid_value', 'mode'],
      ['a mode the model is not for', { ...IMAGE, mode: 'video' }, 400, 'model_not_supported', 'model'],
      ['an unknown model', { ...IMAGE, model: 'x' }, 404, 'model_not_found', 'model'],
      [
        'a prompt of 32,001 characters',
        { ...IMAGE, prompt: 'x'.repeat(32_001) },
        400,
        'prompt_too_long',
        'prompt',
      ],
      ['a size that is not offered', { ...IMAGE, size: '10:1' }, 400, 'invalid_value', 'size'],
      ['an unknown field', { ...IMAGE, status: 'completed' }, 400, 'invalid_request', 'status'],
      ['a field of another mode', { ...VIDEO, n: 1 }, 400, 'invalid_request', 'n'],
      [
        'more than the balance covers',
        { ...VIDEO, model: 'grok-imagine-video-1.5', duration: 15, resolution: '1080p' },
        402,
        'insufficient_credits',
        '',
      ],
    ];
    for (const [title, body, status, code, param] of refusals)
      it(`refuses ${title}: ${status} ${code}`, async () => {
        const user = status === 402 ? await gateway.createUser(749) : owner;
        const answer = await expectNoEffect(gateway, () => user.session.post('/api/tasks', body));
        expectError(answer, status, code, param || null);
      });
  });

  describe('GET /api/tasks/:id', () => {
    it('shows a completed task with its outputs and its charge', async () => {
      const id = await create({ ...VIDEO, prompt: `done ${QUICK}` });
      const task = await untilFinal(owner.session, id);
      expect(task).to.include({
        status: 'completed',
        progress: 100,
        creditsEstimate: 14,
        creditsCharged: 14,
      });
      expect(task).to.include({ errorCode: null, errorMessage: null, attempt: 1 });
      expect(task.outputs).to.deep.equal([
        { url: task.outputUrl, contentType: 'video/mp4', previewUrl: null },
      ]);
      expect(task.upstreamTaskId).to.be.a('string');
      const times = [task.createdAt, task.startedAt, task.completedAt];
      expect(times).to.deep.equal([...times].sort((one, other) => one.localeCompare(other)));
      expect((await owner.session.get(`/api/tasks/${id}`)).headers.get('retry-after')).to.equal(null);
    });

    for (const [order, seconds] of [
      [IMAGE, '2'],
      [VIDEO, '5'],
    ] as const)
      it(`says to come back after ${seconds} s while a task of mode ${order.mode} runs`, async () => {
        const id = await create({ ...order, prompt: '[[sandbox outcome=stuck]]' });
        await untilStatus(owner.session, id, 'in_progress');
        const { headers } = await owner.session.get(`/api/tasks/${id}`);
        expect(headers.get('retry-after')).to.equal(seconds);
        await owner.session.delete(`/api/tasks/${id}`);
      });

    it('gives the same link when read again', async () => {
      const id = await create(IMAGE);
      const { outputUrl } = await untilFinal(owner.session, id);
      const second = (await owner.session.get(`/api/tasks/${id}`)).body.data.outputUrl;
      expect(new URL(second).pathname).to.equal(new URL(outputUrl).pathname);
    });
  });

  describe('GET /api/tasks/:id/timeline', () => {
    const stories: [title: string, order: object, events: string[]][] = [
      ['an image', IMAGE, ['created', 'reserved', 'started', 'submitting', 'stored', 'completed']],
      [
        'a video',
        VIDEO,
        ['created', 'reserved', 'started', 'submitting', 'submitted', 'stored', 'completed'],
      ],
      [
        'a failed video',
        { ...VIDEO, prompt: '[[sandbox seconds=0 outcome=fail]]' },
        ['created', 'reserved', 'started', 'submitting', 'submitted', 'failed'],
      ],
    ];
    for (const [title, order, events] of stories)
      it(`tells the story of ${title} in order`, async () => {
        const id = await create(order);
        await untilFinal(owner.session, id);
        const { status, body } = await owner.session.get(`/api/tasks/${id}/timeline`);
        expect(status).to.equal(200);
        expect(body.data.map(({ event }: { event: string }) => event)).to.deep.equal(events);
        for (const entry of body.data) {
          expect(entry).to.have.all.keys('at', 'event', 'attempt', 'detail');
          expect(entry.attempt).to.equal(1);
        }
        const times = body.data.map(({ at }: { at: string }) => at);
        expect(times).to.deep.equal([...times].sort((one, other) => one.localeCompare(other)));
        expect(body.data.at(-1).detail).to.equal(events.at(-1) === 'failed' ? 'upstream_error' : null);
      });
  });

  describe('GET /api/tasks', () => {
    let user: TestUser;
    let ids: string[];

    before(async () => {
      user = await gateway.createUser(1000);
      const failing = { ...IMAGE, prompt: '[[sandbox seconds=0 outcome=fail]]' };
      const orders = [IMAGE, VIDEO, failing, IMAGE, VIDEO];
      ids = [];
      for (const order of orders) ids.push(await create(order, user));
      for (const id of ids) await untilFinal(user.session, id);
    });

    const list = async (query = '') => (await user.session.get(`/api/tasks${query}`)).body;

    it('lists the user’s own tasks, newest first, as GET shows each of them', async () => {
      const { data, hasMore, nextCursor } = await list();
      expect(data.map(({ id }: Entry) => id)).to.deep.equal(ids.toReversed());
      expect({ hasMore, nextCursor }).to.deep.equal({ hasMore: false, nextCursor: null });
      const { outputUrl: _url, outputs: _outputs, ...shown } = data[0];
      expect((await user.session.get(`/api/tasks/${data[0].id}`)).body.data).to.deep.include(shown);
    });

    const filters: [query: string, indexes: number[]][] = [
      ['?mode=image', [3, 2, 0]],
      ['?mode=video', [4, 1]],
      ['?mode=text', []],
      ['?status=completed', [4, 3, 1, 0]],
      ['?status=failed', [2]],
      ['?status=failed&mode=video', []],
      ['?status=completed&mode=image', [3, 0]],
      ['?limit=100', [4, 3, 2, 1, 0]],
    ];
    for (const [query, indexes] of filters)
      it(`answers ${indexes.length} tasks for ${query}`, async () => {
        const { data } = await list(query);
        expect(data.map(({ id }: Entry) => ids.indexOf(id))).to.deep.equal(indexes);
      });

    for (const query of ['limit=1', 'limit=2', 'limit=5', 'limit=2&status=completed', 'limit=1&mode=image'])
      it(`pages without gap or repetition with ${query}`, async () => {
        const limit = Number(/\d+/.exec(query)?.[0]);
        const [, filter = ''] = query.split('&');
        const pages: string[] = [];
        for (let cursor: string | null = ''; cursor !== null;) {
          const page = await list(`?${query}${cursor && `&cursor=${cursor}`}`);
          expect(page.data).to.have.length.within(1, limit);
          expect(page.hasMore).to.equal(page.nextCursor !== null);
          pages.push(...page.data.map(({ id }: Entry) => id));
          cursor = page.nextCursor;
        }
        expect(pages).to.deep.equal((await list(`?${filter}`)).data.map(({ id }: Entry) => id));
      });

    it('takes a stranger’s id as cursor without showing anything of the stranger', async () => {
      const strangers = await create(IMAGE);
      await untilFinal(owner.session, strangers);
      const { data } = await list(`?cursor=${strangers}`);
      expect(data.map(({ id }: Entry) => id)).to.deep.equal(ids.toReversed());
    });

    const refusals: [query: string, param: string][] = [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=-1', 'limit'],
      ['limit=x', 'limit'],
      ['limit=1&limit=2', 'limit'],
      ['cursor=x', 'cursor'],
      ['cursor=', 'cursor'],
      ['status=done', 'status'],
      ['status=', 'status'],
      ['status=queued&status=failed', 'status'],
      ['mode=sound', 'mode'],
    ];
    for (const [query, param] of refusals)
      it(`refuses ${query}: 400`, async () => {
        expectError(await user.session.get(`/api/tasks?${query}`), 400, 'invalid_value', param);
      });
  });
});
