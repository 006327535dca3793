// Another user's task and one that does not exist answer the same, byte for byte, on every route with an id.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { ROUTES } from '../../../api/app.ts';
import { createApiKey } from '../../../db/keys/api-keys.ts';
import { makeId } from '../../../db/ids.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { sendRaw, tellingHeaders, type RawAnswer } from '../../support/http/raw.ts';
import { untilFinal, untilStatus } from '../../support/until.ts';

const IMAGE = { mode: 'image', model: 'gpt-image-2' };
const VIDEO = { mode: 'video', model: 'grok-imagine-video', duration: 1 };
const ID_ROUTES = ROUTES.filter(
  ({ path }) => /\/(tasks|generations|videos)\/:id/.test(path) && !/^\/api\/admin\/|\/uploads\//.test(path),
);
const PROMPTS = ['[[sandbox outcome=stuck]]', '[[sandbox seconds=0]]', '[[sandbox seconds=0 outcome=fail]]'];

describe('tasks of other users', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let stranger: TestUser;
  /** Tasks of the owner: running, completed and failed, images and videos. */
  let tasks: { id: string; mode: string }[];

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser();
    stranger = await gateway.createUser();
    for (const { id, email, password } of [owner, stranger]) {
      const { headers } = await gateway.anonymous.post('/api/auth/login', { email, password });
      cookies.set(id, (headers.get('set-cookie') ?? '').split(';')[0] ?? '');
    }
    const orders = [IMAGE, VIDEO].flatMap((order) => PROMPTS.map((prompt) => ({ ...order, prompt })));
    tasks = [];
    for (const order of orders) {
      const { data } = (await owner.session.post('/api/tasks', order)).body;
      if (order.prompt === PROMPTS[0]) await untilStatus(owner.session, data.id, 'in_progress');
      else await untilFinal(owner.session, data.id);
      tasks.push(data);
    }
  });
  after(async () => {
    for (const { id } of tasks) await owner.session.delete(`/api/tasks/${id}`);
    await gateway.stop();
  });
  afterEach(() => gateway.expectSoundMoney());

  const cookies = new Map<string, string>();
  /** Sends a request with every proof that a route could ask for. */
  const ask = (user: TestUser, method: string, path: string): Promise<RawAnswer> => {
    const cookie = cookies.get(user.id) ?? '';
    const headers = { authorization: `Bearer ${user.apiKey}`, cookie, 'x-request-id': 'same' };
    return sendRaw(gateway.baseUrl, { method, path, headers });
  };
  /** Everything that a stranger's request could change; the progress of a running task is left out. */
  const stateOf = (user: TestUser) =>
    gateway.em().execute(sql`
      select t.id, t.status, t.attempt, t.cancel_requested_at,
             (select count(*) from task_event e where e.task_id = t.id) as events
      from task t where t.user_id = ${user.id} order by t.id`);

  it('covers every route that takes a task id', () => {
    expect(ID_ROUTES.map(({ method, path }) => `${method} ${path}`)).to.have.members([
      'GET /v1/images/tasks/:id',
      'GET /v1/videos/tasks/:id',
      'GET /v1/videos/generations/:id',
      'GET /v1/videos/:id',
      'DELETE /v1/videos/:id',
      'GET /v1/videos/:id/content',
      'GET /api/tasks/:id',
      'DELETE /api/tasks/:id',
      'GET /api/tasks/:id/timeline',
      'POST /api/tasks/:id/retry',
    ]);
  });

  for (const { method, path } of ID_ROUTES) {
    it(`${method} ${path} answers a stranger’s id, a random and a malformed one alike: 404`, async () => {
      const before = await stateOf(owner);
      const unknown = await ask(stranger, method, path.replace(':id', makeId('task')));
      expect(unknown.status).to.equal(404);
      expect(JSON.parse(unknown.text).error).to.deep.equal({
        message: 'There is no such task.',
        type: 'not_found_error',
        param: null,
        code: 'task_not_found',
        request_id: 'same',
      });
      for (const id of [...tasks.map((task) => task.id), 'x', owner.id]) {
        const answer = await ask(stranger, method, path.replace(':id', id));
        expect(answer.status, id).to.equal(404);
        expect(answer.text, id).to.equal(unknown.text);
        expect(tellingHeaders(answer), id).to.deep.equal(tellingHeaders(unknown));
      }
      const after = await stateOf(owner);
      expect(after).to.deep.equal(before);
    });
  }

  it('are in nobody else’s list', async () => {
    expect((await stranger.session.get('/api/tasks')).body).to.deep.equal({
      data: [],
      hasMore: false,
      nextCursor: null,
    });
  });

  it('are read by another key of the same user', async () => {
    const { key } = await createApiKey(gateway.em(), gateway.secrets, { userId: owner.id, name: 'Second' });
    const headers = { authorization: `Bearer ${key}` };
    for (const { id, mode } of tasks) {
      const path = `/v1/${mode}s/tasks/${id}`;
      const second = await gateway.anonymous.get(path, headers);
      expect(second.status, path).to.equal(200);
      expect(second.body, path).to.deep.equal((await owner.key.get(path)).body);
    }
  });

  it('of one kind do not exist on the endpoints of the other', async () => {
    for (const { id, mode } of tasks) {
      const others = mode === 'image' ? ['/v1/videos/tasks', '/v1/videos/generations'] : ['/v1/images/tasks'];
      for (const path of others) {
        const wrongKind = await ask(owner, 'GET', `${path}/${id}`);
        const unknown = await ask(owner, 'GET', `${path}/${makeId('task')}`);
        expect(wrongKind.status, path).to.equal(404);
        expect(wrongKind.text, path).to.equal(unknown.text);
        expect(tellingHeaders(wrongKind), path).to.deep.equal(tellingHeaders(unknown));
      }
    }
  });

  it('answer 401, not 404, to somebody without a proof', async () => {
    for (const { method, path, proof } of ID_ROUTES) {
      const answer = await gateway.anonymous.send(method, path.replace(':id', tasks[0]?.id ?? ''));
      expectError(answer, 401, proof === 'key' ? 'missing_api_key' : 'not_authenticated', null);
    }
  });
});
