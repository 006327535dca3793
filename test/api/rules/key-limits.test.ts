// What limits a key: quota, budget, scope, end and revocation, under parallel calls and whatever becomes of a
// task.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { refundOnce } from '../../support/credits.ts';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { countSubmissions } from '../../support/servers/sandbox.ts';
import { IMAGE_CREDITS, IMAGE_MODEL, uniqueWord, VIDEO_MODEL } from '../../support/tasks.ts';
import {
  change,
  counters,
  createLimitedUser,
  CREDIT,
  ended,
  IMAGES,
  order,
  ordered,
  QUICK,
  readCounters,
  STUCK,
} from '../../support/limited-keys.ts';
import { untilFinal, untilStatus } from '../../support/until.ts';

const FAILING = '[[sandbox seconds=0 outcome=fail]]';

describe('the limits of a key', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const createUser = (limits: object): Promise<TestUser> => createLimitedUser(gateway, limits);
  const countersOf = (user: TestUser) => readCounters(gateway, user);

  describe('in parallel', () => {
    for (const [title, limits, code] of [
      ['quota', { quota: 10 * IMAGE_CREDITS }, 'key_quota_exceeded'],
      ['daily budget', { dailyBudget: 10 * IMAGE_CREDITS }, 'daily_budget_exceeded'],
    ] as const)
      it(`a ${title} for exactly 10 admits 10 of 100 calls: ten 202, ninety 402`, async () => {
        const user = await createUser(limits);
        const word = uniqueWord();
        const answers = await Promise.all(Array.from({ length: 100 }, () => order(user, `${word} ${QUICK}`)));
        const refused = answers.filter(({ status }) => status !== 202);
        for (const answer of refused) expectError(answer, 402, code, null);
        expect(refused).to.have.length(90);
        for (const { body } of answers.filter(({ status }) => status === 202))
          expect(await untilFinal(user.session, body.id)).to.include({
            status: 'completed',
            creditsCharged: 4,
          });
        expect(await countersOf(user)).to.deep.equal(counters(40, 0));
        expect(await countSubmissions(gateway.sandboxUrl, word)).to.equal(10);
        expectError(await expectNoEffect(gateway, () => order(user)), 402, code, null);
        expect((await user.session.get('/api/balance')).body.data).to.include({ balance: 960, reserved: 0 });
      });

    it('two keys of one account do not share their limits', async () => {
      const user = await createUser({ quota: 0 });
      await user.verify();
      const { key } = (await user.session.post('/api/keys', { name: 'Second' })).body.data;
      expectError(await order(user), 402, 'key_quota_exceeded', null);
      const headers = { authorization: `Bearer ${key}` };
      const body = { model: IMAGE_MODEL, prompt: QUICK };
      expect((await gateway.anonymous.post(IMAGES, body, headers)).status).to.equal(202);
    });
  });

  it('a quota and a budget that fit exactly are enough; a millionth less is not', async () => {
    for (const [limit, code] of [
      ['quota', 'key_quota_exceeded'],
      ['dailyBudget', 'daily_budget_exceeded'],
    ] as const) {
      const user = await createUser({ [limit]: IMAGE_CREDITS - 0.000001 });
      expectError(await expectNoEffect(gateway, () => order(user)), 402, code, null);
      await change(user, { [limit]: IMAGE_CREDITS });
      await ended(user);
      await change(user, { [limit]: null });
      await ended(user);
    }
  });

  it('the console of the same user spends without them', async () => {
    const user = await createUser({ quota: 0, dailyBudget: 0, modelScope: [VIDEO_MODEL] });
    const task = { mode: 'image', model: IMAGE_MODEL, prompt: QUICK };
    const { status, body } = await user.session.post('/api/tasks', task);
    expect(status).to.equal(202);
    await untilFinal(user.session, body.data.id);
    expect(await countersOf(user)).to.deep.equal(counters(0, 0));
  });

  it('a quota lowered below what was used stops further spending, and nothing else', async () => {
    const user = await createUser({ quota: 100 });
    await ended(user);
    await change(user, { quota: 3.5 });
    expectError(await expectNoEffect(gateway, () => order(user)), 402, 'key_quota_exceeded', null);
    expect((await user.key.get('/v1/balance')).status).to.equal(200);
    expect((await user.session.get('/api/keys')).body.data[0]).to.include({ quota: 3.5, used: 4 });
    await change(user, { quota: 8 });
    await ended(user);
    expectError(await order(user), 402, 'key_quota_exceeded', null);
  });

  it('the scope holds for creations and estimates, and only for this key', async () => {
    const user = await createUser({ modelScope: [VIDEO_MODEL] });
    const image = { model: IMAGE_MODEL, prompt: QUICK };
    for (const ask of [
      () => user.key.post(IMAGES, image),
      () => user.key.post('/v1/estimates', { mode: 'image', ...image }),
    ])
      expectError(await expectNoEffect(gateway, ask), 403, 'model_not_allowed', 'model');
    const video = { model: VIDEO_MODEL, prompt: QUICK, duration: 1 };
    expect((await user.key.post('/v1/estimates', { mode: 'video', ...video })).status).to.equal(200);
    expect((await user.key.post('/v1/videos/generations', video)).status).to.equal(202);
    expect((await user.session.post('/api/estimates', { mode: 'image', ...image })).status).to.equal(200);
    const { data } = (await user.key.get('/v1/models')).body;
    expect(data.map(({ id }: { id: string }) => id)).to.deep.equal([VIDEO_MODEL]);
    await change(user, { modelScope: [VIDEO_MODEL, IMAGE_MODEL] });
    await ended(user);
  });

  it('past its end a key is refused everywhere, with its own answer', async () => {
    const user = await gateway.createUser();
    await set(user, sql`expires_at = now() - interval '1 millisecond'`);
    for (const ask of [
      () => order(user),
      () => user.key.get('/v1/models'),
      () => user.key.get('/api/usage/token'),
    ])
      expectError(await expectNoEffect(gateway, ask), 401, 'expired_api_key', null);
  });

  const set = (user: TestUser, assignment: RawQueryFragment) =>
    gateway.em().execute(sql`update api_key set ${assignment} where id = ${user.keyId}`);

  describe('get back what a task did not cost', () => {
    const limits = { quota: IMAGE_CREDITS * 3, dailyBudget: IMAGE_CREDITS * 3 };

    it('when it fails', async () => {
      const user = await createUser(limits);
      for (let round = 0; round < 4; round += 1) await ended(user, FAILING, { n: 3 });
      expect(await countersOf(user)).to.deep.equal(counters(0, 0));
    });

    it('when it is cancelled; as long as it runs it counts', async () => {
      const user = await createUser(limits);
      const id = await ordered(user, STUCK, { n: 3 });
      await untilStatus(user.session, id, 'in_progress');
      expect(await countersOf(user)).to.deep.equal(counters(0, 12));
      expectError(await order(user), 402, 'key_quota_exceeded', null);
      expect(await countersOf(user)).to.deep.equal(counters(0, 12));
      expect((await user.session.delete(`/api/tasks/${id}`)).status).to.equal(200);
      expect(await countersOf(user)).to.deep.equal(counters(0, 0));
      await ended(user, QUICK, { n: 3 });
    });

    it('when less is delivered than was ordered', async () => {
      const user = await createUser(limits);
      await ended(user, '[[sandbox seconds=0 deliver=1]]', { n: 3 });
      expect(await countersOf(user)).to.deep.equal(counters(4, 0));
      await ended(user, QUICK, { n: 2 });
      expect(await countersOf(user)).to.deep.equal(counters(12, 0));
    });

    it('when it is refunded, once', async () => {
      const user = await createUser(limits);
      const taskId = await ended(user, QUICK, { n: 3 });
      expectError(await order(user), 402, 'key_quota_exceeded', null);
      const input = { taskId, attempt: 1, amount: 4n * CREDIT, description: 'Sorry' };
      for (let round = 0; round < 2; round += 1)
        await refundOnce(gateway.em(), { ...input, idempotencyKey: `sorry:${taskId}` });
      expect(await countersOf(user)).to.deep.equal(counters(8, 0));
      await ended(user);
      expectError(await order(user), 402, 'key_quota_exceeded', null);
    });

    it('when the console retries it: no key pays for that', async () => {
      const user = await createUser(limits);
      const id = await ended(user, '[[sandbox seconds=0 outcome=fail*1]]');
      expect((await user.session.post(`/api/tasks/${id}/retry`)).status).to.equal(202);
      expect(await untilFinal(user.session, id)).to.include({ status: 'completed', creditsCharged: 4 });
      expect(await countersOf(user)).to.deep.equal(counters(0, 0));
    });
  });
});
