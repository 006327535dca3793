// The daily budget of a key over midnight (UTC): what counts for which day.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { refundOnce } from '../../support/credits.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import {
  counters,
  createLimitedUser,
  CREDIT,
  ended,
  order,
  QUICK,
  readCounters,
  reservedTask,
  STUCK,
} from '../../support/limited-keys.ts';
import { untilFinal } from '../../support/until.ts';

describe('the daily budget of a key, over midnight (UTC)', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const createUser = (limits: object): Promise<TestUser> => createLimitedUser(gateway, limits);
  const countersOf = (user: TestUser) => readCounters(gateway, user);

  /** Moves everything that has happened to this user so far to the day before. */
  const passMidnight = async ({ id, keyId }: TestUser): Promise<void> => {
    // One transaction, in the order of a settlement, which may come at the same time.
    await gateway.em().transactional(async (tx) => {
      await tx.execute(sql`update task_attempt set day = day - 1 where user_id = ${id}`);
      await tx.execute(sql`update key_spending set day = day - 1 where key_id = ${keyId}`);
    });
  };
  const dayOf = async (user: TestUser) => {
    const { daily_budget, daily_used, daily_remaining } = (await user.key.get('/api/usage/token')).body.data;
    return [daily_budget, daily_used, daily_remaining];
  };

  it('the whole budget is there again', async () => {
    const user = await createUser({ dailyBudget: 8 });
    await ended(user, QUICK, { n: 2 });
    expectError(await order(user), 402, 'daily_budget_exceeded', null);
    await passMidnight(user);
    expect(await dayOf(user)).to.deep.equal([8, 0, 8]);
    await ended(user);
    expect(await dayOf(user)).to.deep.equal([8, 4, 4]);
    expect(await countersOf(user)).to.deep.equal(counters(12, 0, 4, 0));
    expectError(await order(user, QUICK, { n: 2 }), 402, 'daily_budget_exceeded', null);
  });

  it('what a task gives back returns to the day it was taken from', async () => {
    const user = await createUser({ dailyBudget: 8 });
    const id = await reservedTask(user, STUCK, { n: 2 });
    await passMidnight(user);
    await ended(user);
    expect(await countersOf(user)).to.deep.equal(counters(4, 8, 4, 0));
    expect((await user.session.delete(`/api/tasks/${id}`)).status).to.equal(200);
    expect(await countersOf(user)).to.deep.equal(counters(4, 0));
    expectError(await order(user, QUICK, { n: 2 }), 402, 'daily_budget_exceeded', null);
  });

  it('and before anything else was spent, leaves today untouched', async () => {
    const user = await createUser({ dailyBudget: 8 });
    const id = await reservedTask(user, STUCK, { n: 2 });
    await passMidnight(user);
    await user.session.delete(`/api/tasks/${id}`);
    expect(await dayOf(user)).to.deep.equal([8, 0, 8]);
    await ended(user, QUICK, { n: 2 });
    expect(await dayOf(user)).to.deep.equal([8, 8, 0]);
  });

  it('a charge or a refund of yesterday’s work changes nothing of today', async () => {
    const user = await createUser({ dailyBudget: 8 });
    const id = await reservedTask(user, '[[sandbox seconds=1]]', { n: 2 });
    await passMidnight(user);
    const today = await ended(user);
    await untilFinal(user.session, id);
    expect(await countersOf(user)).to.deep.equal(counters(12, 0, 4, 0));
    const input = { attempt: 1, amount: 4n * CREDIT, description: 'Sorry' };
    await refundOnce(gateway.em(), { ...input, taskId: id, idempotencyKey: `sorry:${id}` });
    expect(await countersOf(user)).to.deep.equal(counters(8, 0, 4, 0));
    await refundOnce(gateway.em(), { ...input, taskId: today, idempotencyKey: `sorry:${today}` });
    expect(await countersOf(user)).to.deep.equal(counters(4, 0, 0, 0));
  });
});
