// What an Idempotency-Key belongs to, which bodies it takes for the same, and when it can be used again.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createAdministrator, makeCode } from '../../support/administrators.ts';
import { activitiesOf } from '../../support/servers/engine.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';
import { countEffects, expectReplayOf, isReplay } from '../../support/http/repeatable.ts';
import { IMAGE_CREDITS, IMAGE_MODEL } from '../../support/tasks.ts';

const IMAGES = '/v1/images/generations';
const CODES = '/api/admin/redeem-codes';
const PLENTY = '100000/60';

describe('the scope of an Idempotency-Key', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let owner: TestUser;

  before(async () => {
    const env = { SVC_LIMIT_CREATE: PLENTY, SVC_LIMIT_READ: PLENTY, SVC_LIMIT_AUTH: PLENTY };
    gateway = await startGateway({ env });
    gateway.services.guesses = { limit: (_kind, _guesser, judge) => judge() };
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(1_000);
  });
  afterEach(() => gateway.expectSoundMoney());

  const order = (prompt = 'a cat') => ({ model: IMAGE_MODEL, prompt: `${prompt} [[sandbox seconds=0]]` });
  const create = (key: string, prompt?: string, caller = owner.key): Promise<Answer> =>
    caller.post(IMAGES, order(prompt), { 'idempotency-key': key });
  const countKeys = async () => (await countEffects(gateway))['keys'];
  const age = (hours: number) =>
    gateway.em().execute(sql`
      update idempotency_key set created_at = created_at - make_interval(hours => ${hours}) where user_id = ${owner.id}`);

  describe('belongs', () => {
    it('to one user: another with the same key makes a task of their own', async () => {
      const stranger = await gateway.createUser(1_000);
      const [own, foreign] = [await create('shared'), await create('shared', 'a cat', stranger.key)];
      expect([own.status, foreign.status]).to.deep.equal([202, 202]);
      expect(own.body.id).not.to.equal(foreign.body.id);
      expect(isReplay(foreign)).to.equal(false);
    });

    it('to one path: the same key and body on another one is another request', async () => {
      const image = await create('paths');
      const headers = { 'idempotency-key': 'paths' };
      const task = await owner.session.post('/api/tasks', { mode: 'image', ...order() }, headers);
      expect([image.status, task.status, isReplay(task)]).to.deep.equal([202, 202, false]);
      const [one, other] = [await gateway.createUser(0), await gateway.createUser(0)];
      for (const { id } of [one, other]) {
        const path = `/api/admin/users/${id}/grants`;
        const grant = await chief.session.post(path, { credits: 1, note: 'Both' }, headers);
        expect([grant.status, isReplay(grant)]).to.deep.equal([201, false]);
      }
    });

    it('to the path however it is spelled', async () => {
      const first = await create('spelled');
      expectReplayOf(first, await owner.key.post(`${IMAGES}/`, order(), { 'idempotency-key': 'spelled' }));
    });

    it('to the user, not to the API key', async () => {
      await owner.verify();
      const made = await owner.session.post('/api/keys', { name: 'Second' });
      const headers = { authorization: `Bearer ${made.body.data.key}`, 'idempotency-key': 'mine' };
      expectReplayOf(await create('mine'), await gateway.anonymous.post(IMAGES, order(), headers));
    });
  });

  it('compares what a body says, not how it is written', async () => {
    const send = (body: string) =>
      owner.key.send('POST', IMAGES, {
        body,
        headers: { 'idempotency-key': 'written', 'content-type': 'application/json' },
      });
    const first = await send(`{"model":"${IMAGE_MODEL}","prompt":"a cat","n":1,"extra":{"a":1,"b":[1,2]}}`);
    expect(first.status).to.equal(202);
    expectReplayOf(
      first,
      await send(
        `{ "extra": {"b":[1, 2],"a":1}, "n": 1.0, "prompt": "a c\\u0061t", "model": "${IMAGE_MODEL}" }`,
      ),
    );
    const turned = await send(`{"model":"${IMAGE_MODEL}","prompt":"a cat","n":1,"extra":{"a":1,"b":[2,1]}}`);
    expectError(turned, 422, 'idempotency_key_reused');
  });

  describe('can be used again', () => {
    it('after a body that was refused', async () => {
      const headers = { 'idempotency-key': 'typo' };
      expectError(await owner.key.post(IMAGES, { ...order(), n: 0 }, headers), 400, 'invalid_value');
      expect((await create('typo')).status).to.equal(202);
    });

    it('after a 402 that came before any work, once there are credits', async () => {
      const poor = await gateway.createUser(1);
      expectError(await create('poor', 'a cat', poor.key), 402, 'insufficient_credits');
      const path = `/api/admin/users/${poor.id}/grants`;
      await chief.session.post(path, { credits: IMAGE_CREDITS, note: 'Here' });
      const answer = await create('poor', 'a cat', poor.key);
      expect([answer.status, isReplay(answer)]).to.deep.equal([202, false]);
    });

    it('after a redeem code that does not exist, and after a retry that could not be', async () => {
      const keys = await countKeys();
      const headers = { 'idempotency-key': 'guess' };
      const unknown = { code: 'SVC-000000-000000-000000-000000' };
      expectError(await owner.session.post('/api/redeem', unknown, headers), 404, 'redeem_code_not_found');
      const { code, id } = await makeCode(chief);
      await chief.session.patch(`${CODES}/${id}`);
      expectError(await owner.session.post('/api/redeem', { code }, headers), 409, 'redeem_code_disabled');
      const task = await owner.session.post('/api/tasks', {
        mode: 'video',
        model: 'grok-imagine-video',
        prompt: 'x',
      });
      const retried = await owner.session.post(`/api/tasks/${task.body.data.id}/retry`, undefined, headers);
      expectError(retried, 409, 'task_not_retryable');
      expect(await countKeys()).to.equal(keys);
    });

    it('after 24 hours, before and after the sweeper has passed', async () => {
      const first = await create('daily');
      await age(23);
      expectReplayOf(first, await create('daily'));
      await age(1);
      const second = await create('daily');
      expect([second.status, isReplay(second)]).to.deep.equal([202, false]);
      expect(second.body.id).not.to.equal(first.body.id);
      await age(24);
      expect((await create('daily', 'a dog')).status).to.equal(202);
    });
  });

  it('is removed by the sweeper after 24 hours, and not before', async () => {
    const rows = async () =>
      gateway.em().execute(sql`select id from idempotency_key where user_id = ${owner.id}`);
    await create('old');
    await age(24);
    await create('young');
    await activitiesOf(gateway).removeOldRequests();
    expect(await rows()).to.have.length(1);
    expect(isReplay(await create('young'))).to.equal(true);
  });
});
