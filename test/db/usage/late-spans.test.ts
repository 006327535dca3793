// When sums of usage by quarter of an hour reach those by hour, six hours, day and month.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { forkEm, type Em } from '../../../db/database.ts';
import { onOneSnapshot } from '../../../db/ledger/slices.ts';
import { findUsageViolations } from '../../../db/ledger/usage-sums.ts';
import { addEnds, addTransfers, BUCKET_MS, spanQuarters } from '../../../db/usage/rollup.ts';
import { readUsage } from '../../../db/usage/summary.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { addPastCall } from '../../support/usage.ts';

const DAY_MS = 86_400_000;
/** Hour, six hours, day and month. */
const SPANS = 4;

describe('sums of usage', () => {
  let test: TestDatabase;
  const em = () => forkEm(test.database);
  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());

  it('of the present quarter are read beside hours and days, and in them once, when it is over', async () => {
    const owner = await rows.createOwner(em(), 1_000n);
    const quarter = Math.floor((Date.now() - DAY_MS) / BUCKET_MS) * BUCKET_MS;
    await addPastCall(em(), { userId: owner, at: new Date(quarter + 1).toISOString(), charge: 5 });
    const carryTo = async (offsetMs: number): Promise<void> => {
      await addTransfers(em(), '');
      await addEnds(em(), new Date(quarter + offsetMs), Infinity);
      while (await spanQuarters(em()));
    };
    const readCalls = async (table: string): Promise<number> => {
      const own = sql`select coalesce(sum(calls), 0)::int as calls from ${sql.ref(table)} where user_id = ${owner}`;
      return (await em().execute<{ calls: number }[]>(own))[0]?.calls ?? NaN;
    };
    const request = { userId: owner, from: new Date(quarter - DAY_MS), to: null, timezone: 'UTC' } as const;
    const countCalls = async (): Promise<number[]> => {
      const asked = { ...request, interval: 'day', group: 'none', families: new Map(), rowsMax: 10 } as const;
      const answer = await readUsage(em(), asked);
      return answer.kind === 'summary' ? answer.rows.map(({ calls }) => calls) : [];
    };
    await carryTo(2);
    expect(await readCalls('usage_span')).to.equal(0);
    expect(await countCalls()).to.deep.equal([1]);
    await carryTo(BUCKET_MS);
    await carryTo(BUCKET_MS);
    expect(await readCalls('usage_span')).to.equal(SPANS);
    expect(await countCalls()).to.deep.equal([1]);
    await addPastCall(em(), { userId: owner, at: new Date(quarter + BUCKET_MS).toISOString(), charge: 5 });
    await carryTo(BUCKET_MS + 1);
    expect([await readCalls('usage_rollup'), await readCalls('usage_span')]).to.deep.equal([2, SPANS]);
    expect(await findUsageViolations(em(), ['', owner])).to.deep.equal([]);
  });

  it('are read twice by the check, however many spans they are held against', async () => {
    const owner = await rows.createOwner(em(), 1_000n);
    await addPastCall(em(), { userId: owner, at: new Date(Date.now() - DAY_MS).toISOString(), charge: 5 });
    await addTransfers(em(), '');
    await addEnds(em(), new Date(), Infinity);
    await spanQuarters(em());
    const countRead = async (tx: Em): Promise<number> => {
      const [row] = await tx.execute<{ rows: number }[]>(`
        select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'usage_rollup'`);
      return row?.rows ?? NaN;
    };
    await onOneSnapshot(em(), true, async (tx) => {
      const before = await countRead(tx);
      expect(await findUsageViolations(tx, [owner])).to.deep.equal([]);
      expect((await countRead(tx)) - before).to.equal(2);
    });
  });
});
