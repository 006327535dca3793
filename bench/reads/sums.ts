// The sums of usage over a made history: all days at once, but the last, which the product carries forward.
import { sql } from '@mikro-orm/postgresql';
import { forkEm, type Database, type Em } from '../../db/database.ts';
import { addSpans } from '../../db/migrations/103-usage-six-hours.ts';
import { addEnds, addSums, addTransfers, countRows, spanQuarters } from '../../db/usage/rollup.ts';
import { ENDS, SUMS, TRANSFERS } from '../../db/usage/sources.ts';

const DAY_MS = 86_400_000;
/** The product's own step (`activities/usage-rollup.ts`) grows to this, too. */
const CARRYING_STEP_MS = DAY_MS;
const SOURCES = [TRANSFERS, ...ENDS];

/** How long the product took to carry its day forward, and how many rows that day has. */
export interface Carried {
  ms: number;
  rows: number;
}

/**
 * Writes the sums of all rows between these times. The last day and what is left of `to`'s own are carried
 * forward by the product itself; throws when its sums are not those that the days before were written with.
 */
export async function makeSums(database: Database, from: Date, to: Date): Promise<Carried> {
  const em = forkEm(database);
  const last = new Date(Math.floor(to.getTime() / DAY_MS - 1) * DAY_MS);
  await em.execute('truncate usage_rollup, usage_span, usage_comparison, usage_mark');
  await em.execute('alter table usage_rollup disable trigger user');
  await em.execute(sql`
    with counted as materialized (${countRows(SOURCES, { from: floorDay(from), to: last })})
    ${addSums(sql`counted`)}`);
  await em.execute('update usage_rollup set is_spanned = true');
  await em.execute('alter table usage_rollup enable trigger user');
  await em.execute(addSpans('usage_rollup'));
  await em.execute(sql`
    insert into usage_mark (user_id, sequence, charged)
    select account_id, max(sequence), coalesce(-sum(amount) filter (where kind in ('charge', 'refund')), 0)
    from ledger_transfer where created_at < ${last.toISOString()} group by account_id`);
  await em.execute(sql`update usage_watermark set until = ${last.toISOString()}`);
  const ms = await carryForward(database, to);
  await compare(em, last, to);
  const [counted] = await em.execute<{ rows: number }[]>(sql`
    select (select count(*) from task where completed_at >= ${last.toISOString()})::int
         + (select count(*) from chat_call where settled_at >= ${last.toISOString()})::int
         + (select count(*) from ledger_transfer where created_at >= ${last.toISOString()})::int as rows`);
  return { ms, rows: counted?.rows ?? 0 };
}

/** Carries all sums forward up to `horizon`, and answers how long it took. */
async function carryForward(database: Database, horizon: Date): Promise<number> {
  const beganAt = performance.now();
  for (let after: string | null = ''; after !== null;) after = await addTransfers(forkEm(database), after);
  for (let until = new Date(0); until < horizon;)
    ({ until } = await addEnds(forkEm(database), horizon, CARRYING_STEP_MS));
  while (await spanQuarters(forkEm(database)));
  return performance.now() - beganAt;
}

async function compare(em: Em, from: Date, to: Date): Promise<void> {
  const columns = sql`user_id, bucket, key_id, kind, model, family, ${SUMS}`;
  await em.execute(`create temporary table bench_sums (like usage_rollup including all)`);
  await em.execute(sql`
    with counted as materialized (${countRows(SOURCES, { from, to })})
    ${addSums(sql`counted`, sql`bench_sums`)}`);
  const [row] = await em.execute<{ differing: number; same: number }[]>(sql`
    with carried as materialized (select ${columns} from usage_rollup where bucket >= ${from.toISOString()})
    select (select count(*) from (
        (select * from carried except all select ${columns} from bench_sums) union all
        (select ${columns} from bench_sums except all select * from carried)) d)::int as differing,
      (select count(*) from carried)::int as same`);
  if (!row || row.differing > 0 || row.same === 0)
    throw new Error(`the sums of the bench are not the product's: ${JSON.stringify(row)}`);
}

function floorDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
}
