// A user who cost the operator much on this day is held to work whose cost is known before the next begins.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createLossBrake } from '../../../db/ledger/loss-brake.ts';
import { readMetricsSnapshot } from '../../../db/metrics-snapshot.ts';
import { ask, openStream, readCalls } from '../../support/chat.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { activitiesOf } from '../../support/servers/engine.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until } from '../../support/until.ts';

const LONGER_THAN_A_LIST_IS_KEPT_MS = 11_000;

describe('the loss brake', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let neighbour: TestUser;
  let nowMs = 0;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_LOSS_BRAKE_CREDITS: '3' } });
    const { database, log } = gateway.services;
    const lossMax = gateway.config.lossBrake;
    gateway.services.lossBrake = createLossBrake({ database, lossMax, log, now: () => nowMs });
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser();
    neighbour = await gateway.createUser();
  });
  afterEach(() => gateway.expectSoundMoney());

  /** Has a call of the user cost more than it was charged, and the list read anew. */
  async function lose(user: TestUser, credits: number): Promise<void> {
    expect((await ask(user)).status).to.equal(200);
    const loss = credits * 1_000_000;
    await gateway.em().transactional(async (tx) => {
      await tx.execute(sql`update chat_call set loss = ${loss} where user_id = ${user.id}`);
      await tx.execute(sql`update account set total_loss = ${loss} where user_id = ${user.id}`);
    });
    nowMs += LONGER_THAN_A_LIST_IS_KEPT_MS;
    await gateway.services.lossBrake.holds(user.id);
  }

  const untilHeld = (user: TestUser) =>
    until('the user is held', () => gateway.services.lossBrake.holds(user.id));

  it('holds a user above it to whole answers, one at a time, and no other user', async () => {
    await lose(owner, 3.5);
    await untilHeld(owner);
    const stream = await openStream(gateway.baseUrl, owner);
    expect(stream.status).to.equal(403);
    expect(JSON.parse(await stream.text()).error.code).to.equal('stream_not_allowed');
    const slow = ask(owner, 'seconds=1');
    await until('the call is under way', async () => (await readCalls(gateway, owner)).length === 2);
    const refused = await ask(owner);
    expectError(refused, 429, 'concurrency_limited');
    expect(refused.headers.get('x-ratelimit-limit')).to.equal('1');
    expect((await slow).status).to.equal(200);
    const theirs = await openStream(gateway.baseUrl, neighbour);
    expect(theirs.status).to.equal(200);
    await theirs.text();
    expect(gateway.logged()).to.contain('the loss brake holds a user').and.to.contain(owner.id);
  });

  it('finds who lost much also on a process whose clock was set back', async () => {
    const { database, log } = gateway.services;
    const brake = createLossBrake({ database, lossMax: gateway.config.lossBrake, log });
    expect(await brake.holds(owner.id)).to.equal(false);
    await lose(owner, 4);
    const [wall, running] = [Date.now, performance.now.bind(performance)];
    Date.now = () => wall() - 3_600_000;
    performance.now = () => running() + LONGER_THAN_A_LIST_IS_KEPT_MS;
    try {
      await until('the user is held', () => brake.holds(owner.id), 2_000);
    } finally {
      Date.now = wall;
      performance.now = running;
    }
  });

  it('lets such a user have one task in progress, and others as many as usual', async () => {
    await lose(owner, 4);
    await untilHeld(owner);
    const begin = async (user: TestUser): Promise<string> => {
      const order = { model: 'gpt-image-2', prompt: 'a cat' };
      const { body } = await user.key.post('/v1/images/generations', order);
      const task = { taskId: body.id, attempt: 1 };
      await activitiesOf(gateway).reserve(task);
      return (await activitiesOf(gateway).begin(task)).status;
    };
    expect([await begin(owner), await begin(owner)]).to.deep.equal(['in_progress', 'queued']);
    expect([await begin(neighbour), await begin(neighbour)]).to.deep.equal(['in_progress', 'in_progress']);
  });

  it('leaves a user below it alone; the metrics show the day’s loss, and the most of one user', async () => {
    const before = await readMetricsSnapshot(gateway.database);
    await lose(owner, 2);
    expect(await gateway.services.lossBrake.holds(owner.id)).to.equal(false);
    await lose(neighbour, 90);
    await untilHeld(neighbour);
    expect(await gateway.services.lossBrake.holds(owner.id)).to.equal(false);
    const { lossToday, userLossTodayMax } = await readMetricsSnapshot(gateway.database);
    expect(lossToday - before.lossToday).to.be.closeTo(92, 0.000_001);
    expect(userLossTodayMax).to.equal(90);
  });

  it('is forgotten when the day is over', async () => {
    await lose(owner, 5);
    await untilHeld(owner);
    await gateway.em().execute(sql`
      update chat_call set settled_at = settled_at - interval '1 day', created_at = created_at - interval '1 day'
      where user_id = ${owner.id}`);
    nowMs += LONGER_THAN_A_LIST_IS_KEPT_MS;
    await until('the user is free', async () => !(await gateway.services.lossBrake.holds(owner.id)));
  });
});
