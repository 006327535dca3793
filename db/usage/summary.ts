// The usage of a period by interval and group, on one snapshot: sums that were carried forward, and rows
// for the rest.
import { IsolationLevel, sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import type { UsageGroup, UsageInterval } from '../../domain/usage.ts';
import type { Em } from '../database.ts';
import { LISTS, readInterval, type StoredInterval, type UsageRow } from './intervals.ts';
import { sumRollup, TOTALS } from './from-rollup.ts';
import { refusalOf, type UsageRefusal } from './refusals.ts';
import { planReading, type Plan } from './plan.ts';
import { ENDS, isWithin, SUMS, TRANSFERS, type Period, type UsageSource } from './sources.ts';

export interface UsageRequest {
  /** Whose usage; null for that of all users. */
  userId: string | null;
  /** From this time on, and before the other; null: to the present moment. */
  from: Date;
  to: Date | null;
  interval: UsageInterval;
  /** The IANA time zone in which days and months begin. */
  timezone: string;
  group: UsageGroup;
  /** The family of each model, for chat calls, whose rows do not name it. */
  families: ReadonlyMap<string, string>;
  rowsMax: number;
}

/** `too_many_rows`: more than `rowsMax`. */
export type UsageAnswer =
  | { kind: 'summary'; rows: UsageRow[]; asOf: Date }
  | { kind: 'too_many_rows' | UsageRefusal };

/** Credits count when their transfer was written, tasks and calls when they ended: the same transaction. */
export async function readUsage(em: Em, request: UsageRequest): Promise<UsageAnswer> {
  try {
    return await em.transactional((tx) => readOnSnapshot(tx, request), {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    });
  } catch (error) {
    return { kind: refusalOf(error) };
  }
}

async function readOnSnapshot(tx: Em, request: UsageRequest): Promise<UsageAnswer> {
  const { userId, timezone } = request;
  const [snapshot] = await tx.execute<{ asOf: string; until: string | null; sequence: string }[]>(sql`
    select now() as "asOf", (select nullif(until, '-infinity') from usage_watermark)::text as until,
           coalesce((select sequence from usage_mark where user_id = ${userId}), 0)::text as sequence,
           now() at time zone ${timezone}, set_config('jit', 'off', true),
           set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true), set_config('enable_memoize', 'off', true),
           set_config('work_mem', ${WORK_MEM}, true)`);
  if (!snapshot) throw new Error('the database answered nothing');
  const asOf = new Date(snapshot.asOf);
  const plan = planReading(request, {
    asOf,
    until: snapshot.until === null ? null : new Date(snapshot.until),
  });
  const counted = await joinParts(tx, request, plan, { asOf, sequence: snapshot.sequence });
  const found = await tx.execute<StoredInterval[]>(sql`
    select start, ${LISTS} from (
      select start, "group", ${TOTALS} from (${counted}) counted group by 1, 2 having ${NON_ZERO}
      order by 1, 2 nulls last limit ${request.rowsMax + 1}
    ) summed group by 1 order by 1`);
  const rows = found.flatMap(readInterval);
  return rows.length > request.rowsMax ? { kind: 'too_many_rows' } : { kind: 'summary', rows, asOf };
}

/** Holds the sums of as many groups as are answered: else they are sorted first, which takes longer. */
const WORK_MEM = '16MB';

/** False where all was taken back: left out, as without usage. Of most rows the first sum is enough. */
const NON_ZERO = sql`
  add_up(credits) <> 0 or add_up(tasks) <> 0 or add_up(calls) <> 0 or add_up(loss) <> 0 or add_up(failed) <> 0
  or add_up(prompt_tokens) <> 0 or add_up(completion_tokens) <> 0 or add_up(images) <> 0 or add_up(seconds) <> 0`;

async function joinParts(
  tx: Em,
  request: UsageRequest,
  plan: Plan,
  { asOf, sequence }: { asOf: Date; sequence: string },
): Promise<RawQueryFragment> {
  const parts = plan.ends.flatMap((period) => ENDS.map((source) => fromRows(request, source, period)));
  parts.push(...plan.edges.map((period) => fromRows(request, TRANSFERS, period)));
  if (plan.body) {
    parts.push(await fromRollup(tx, request, plan.body, asOf));
    parts.push(fromRows(request, TRANSFERS, plan.body, sequence));
  }
  return parts.reduce((all, part) => sql`${all} union all ${part}`);
}

/** Each table is summed by itself: sums of zeros took as long as those of figures. */
function fromRows(
  request: UsageRequest,
  source: UsageSource,
  period: Period,
  sequence: string | null = null,
): RawQueryFragment {
  const { userId } = request;
  const needsTask = request.group === 'kind' || request.group === 'family';
  const rows = source === TRANSFERS && !needsTask ? sql`ledger_transfer l` : source.from;
  const isAfterMarks = sequence !== null && userId === null;
  const from = isAfterMarks ? sql`${rows}, account h left join usage_mark m using (user_id)` : rows;
  const own = userId === null ? sql`true` : sql`${source.userId} = ${userId}`;
  return sql`
    select ${startOf(request, source.at)} as start, ${groupOf(request, source)} as "group", ${source.sums}
    from ${from} where ${source.where} and ${own} and ${isWithin(source.at, period)} ${afterMark(userId, sequence)}
    group by 1, 2`;
}

/** Of one user those transfers that are not in the sums yet; those of all users are joined to their marks. */
function afterMark(userId: string | null, sequence: string | null): RawQueryFragment {
  if (sequence === null) return sql``;
  return userId === null
    ? sql`and l.account_id = h.user_id and h.sequence > coalesce(m.sequence, 0) and l.sequence > coalesce(m.sequence, 0)`
    : sql`and l.sequence > ${sequence}::bigint`;
}

/** The sums of one user, of each user, or of all users together, which are far fewer. */
async function fromRollup(
  tx: Em,
  request: UsageRequest,
  period: Period,
  asOf: Date,
): Promise<RawQueryFragment> {
  const source = {
    userId: sql`r.user_id`,
    keyId: sql`nullif(r.key_id, '')`,
    kind: sql`nullif(r.kind, '')`,
    model: sql`nullif(r.model, '')`,
    family: sql`nullif(r.family, '')`,
  };
  return sql`
    select r.start, ${groupOf(request, source)} as "group", ${SUMS}
    from (${await sumRollup(tx, request, period, asOf)}) r`;
}

function groupOf(
  { group, families }: UsageRequest,
  source: Pick<UsageSource, 'userId' | 'keyId' | 'kind' | 'model' | 'family'>,
): RawQueryFragment {
  switch (group) {
    case 'model':
      return source.model;
    case 'key':
      return source.keyId;
    case 'user':
      return source.userId;
    case 'kind':
      return source.kind;
    case 'family':
      return sql`coalesce(${source.family},
        ${JSON.stringify(Object.fromEntries(families))}::jsonb ->> ${source.model})`;
    case 'none':
      return sql`null::text`;
  }
}

function startOf({ interval, timezone }: UsageRequest, at: RawQueryFragment): RawQueryFragment {
  return sql`date_trunc(${interval}, ${at}, ${timezone})`;
}
