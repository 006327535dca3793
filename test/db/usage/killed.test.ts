// Sums of usage and removal by age while their connections die at any moment: nothing counts twice, nothing
// is lost.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { createRetention } from '../../../activities/retention.ts';
import { createUsageRollup } from '../../../activities/usage-rollup.ts';
import { forkEm } from '../../../db/database.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { readPoolMetrics } from '../../../db/pool.ts';
import { openDatabase } from '../../../db/open-database.ts';
import { createStorage } from '../../../storage/storage.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { until } from '../../support/until.ts';
import { addPastCall } from '../../support/usage.ts';

const DAY_MS = 86_400_000;
const CALLS = 90;
const OWNERS = 3;
const DEATHS = 15;

/**
 * Looks every millisecond until it has killed a transaction: one in some that it finds, so that no moment of
 * them is spared. Fails when there is none to kill.
 */
const KILL_ONE = `
do $$ begin
  for look in 1..2000 loop
    perform pg_stat_clear_snapshot();
    perform pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and random() < 0.2;
    if found then return; end if;
    perform pg_sleep(0.001);
  end loop;
  raise exception 'no transaction was killed';
end $$`;

describe('sums and removal whose process dies', () => {
  let test: TestDatabase;

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());

  it('count each call and charge once, however often they begin anew', async () => {
    const em = forkEm(test.database);
    for (let owner = 0; owner < OWNERS; owner += 1) {
      const userId = await rows.createOwner(em, 1_000_000n);
      for (let call = 0; call < CALLS / OWNERS; call += 1) {
        const at = new Date(Date.now() - DAY_MS * (1 + (call * 40) / (CALLS / OWNERS))).toISOString();
        await addPastCall(em, { userId, at, charge: 7, loss: call % 2 });
      }
    }
    const dying = openDatabase({ url: test.url, connectionsMax: 4 });
    const { rollUpUsage } = createUsageRollup({ database: dying });
    const work = async (): Promise<void> => {
      const retention = { resultDays: 0, taskDays: 0, callDays: 15, auditDays: 0 };
      const storage = createStorage({ kind: 'local', folder: '/nowhere' });
      await rollUpUsage();
      await createRetention({ database: dying, storage, retention }).removeExpired();
    };
    let isOver = false;
    const working = (async () => {
      while (!isOver) await work().catch(() => undefined);
    })();
    for (let death = 0; death < DEATHS; death += 1) await em.execute(KILL_ONE);
    isOver = true;
    await working;
    const isDone = async (): Promise<boolean> =>
      work().then(
        () => true,
        () => false,
      );
    await until('a round meets no dead connection', isDone);
    await until('all connections are back', async () => {
      const { open, idle } = readPoolMetrics(dying);
      return open === idle;
    });
    await dying.close();

    const [sums] = await em.execute<Record<string, number>[]>(sql`
      select sum(calls)::int as calls, sum(credits)::int as credits, sum(loss)::int as loss
      from usage_rollup where user_id <> ''`);
    expect(sums).to.deep.equal({ calls: CALLS, credits: 7 * CALLS, loss: CALLS / 2 });
    for (const table of ['usage_span', 'usage_comparison'])
      for (const span of ['hour', 'six_hours', 'day', 'month']) {
        const isOne = table === 'usage_span' ? sql`user_id <> ''` : sql`key_id <> '*'`;
        const [spans] = await em.execute<Record<string, number>[]>(sql`
          select sum(calls)::int as calls, sum(credits)::int as credits, sum(loss)::int as loss
          from ${sql.ref(table)} where span = ${span} and ${isOne}`);
        expect(spans, `${table} by ${span}`).to.deep.equal(sums);
      }
    const [left] = await em.execute<Record<string, number>[]>(sql`
      select count(*)::int as calls, (select sum(calls)::int from removed_call) as removed from chat_call`);
    expect((left?.['calls'] ?? 0) + (left?.['removed'] ?? 0)).to.equal(CALLS);
    expect(left?.['removed']).to.be.above(CALLS / 2);
    expect(await findViolations(em)).to.deep.equal([]);
  });
});
