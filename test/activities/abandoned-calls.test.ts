// Chat calls whose lease is over because the clock of the database was set ahead: those that live go on.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createActivities } from '../../activities/index.ts';
import { driverPoolOf } from '../../db/pool.ts';
import { eventsIn, isSettled, openStream, readCalls } from '../support/chat.ts';
import { createCleanup } from '../support/cleanup.ts';
import { dependenciesOf } from '../support/servers/activity-dependencies.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;
const LEASE_SECONDS = 6;

describe('chat calls when the clock of the database is set ahead', () => {
  const cleanup = createCleanup();
  let gateway: TestGateway;
  let owner: TestUser;
  let sweep: () => Promise<{ settled: number }>;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_CHAT_LEASE_SECONDS: String(LEASE_SECONDS) } });
    cleanup.later(() => gateway.stop());
    owner = await gateway.createUser();
    const { sweepTasks } = createActivities(dependenciesOf(gateway.config, gateway.services));
    sweep = sweepTasks;
  });
  after(() => cleanup.run());

  /** Every lease is an hour nearer to its end, as for a clock that was set ahead. */
  async function setAhead(): Promise<void> {
    const pool = await driverPoolOf(gateway.services.database.em);
    const query = pool.query.bind(pool);
    pool.query = async (statement) => {
      const answer = await query<never>(statement);
      if (!statement.name.startsWith('read-clock')) return answer;
      const rows = answer.rows.map((row: { nowMs: number }) => ({ nowMs: row.nowMs + HOUR_MS }));
      return { rows: rows as never[] };
    };
    cleanup.later(async () => void (pool.query = query));
    await gateway.em().execute(sql`update chat_call set lease_until = lease_until - interval '1 hour'`);
  }

  it('go on if they live, and are settled soon if their process has died', async () => {
    const response = await openStream(gateway.baseUrl, owner, { directive: 'tokens=180 delay=40' });
    const text = response.text();
    const other = await gateway.createUser();
    await gateway.em().execute(sql`
      insert into chat_call (user_id, id, key_id, request_id, model, stream, credits_reserved, day, lease_until)
      values (${other.id}, 'chat_dead', 'key_none', 'r', 'm', false, 1, now(), now() + interval '1 minute');
      update account set reserved = 1 where user_id = ${other.id}`);
    await sweep();
    await setAhead();
    expect((await sweep()).settled).to.equal(0);
    expect(gateway.logged()).to.include('the clock of the database was set ahead');
    await until('the dead one is settled', async () => (await sweep()).settled > 0);
    expect(eventsIn(await text).at(-1)).to.equal('[DONE]');
    expect((await readCalls(gateway, owner)).map(({ status }) => status)).to.deep.equal(['completed']);
    expect((await readCalls(gateway, other)).map(({ status }) => status)).to.deep.equal(['failed']);
    expect([await isSettled(owner), await isSettled(other)]).to.deep.equal([true, true]);
    await gateway.expectSoundMoney();
  });
});
