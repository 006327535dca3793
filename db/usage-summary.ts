// The usage of a period by interval and group, computed from its rows on one snapshot.
import { IsolationLevel, sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../domain/credits.ts';
import { CHAT_KIND, type UsageGroup, type UsageInterval } from '../domain/usage.ts';
import { readMicroCredits } from './columns.ts';
import type { Em } from './database.ts';

export interface UsageRequest {
  /** Whose usage; null for that of all users. */
  userId: string | null;
  /** From this time on, and before the other. */
  from: Date;
  to: Date;
  interval: UsageInterval;
  /** The IANA time zone in which days and months begin. */
  timezone: string;
  group: UsageGroup;
  /** The family of each model, for chat calls, whose rows do not name it. */
  families: ReadonlyMap<string, string>;
  rowsMax: number;
}

export interface UsageSums {
  /** Charges less refunds of the ledger. */
  credits: MicroCredits;
  /** What tasks and calls cost the operator beyond their charges. */
  loss: MicroCredits;
  /** Tasks that ended, whichever way. */
  tasks: number;
  /** Chat calls that ended, whichever way. */
  calls: number;
  /** Those of both that failed. */
  failed: number;
  /** Of chat calls. */
  promptTokens: number;
  completionTokens: number;
  /** Of tasks that were completed. */
  images: number;
  seconds: number;
}

export interface UsageRow extends UsageSums {
  /** When the interval begins, also where the period begins within it. */
  start: Date;
  /** Null for what belongs to no group, such as tasks without a key. */
  group: string | null;
}

export type UsageAnswer =
  | { kind: 'summary'; rows: UsageRow[]; asOf: Date }
  /** The database has no such time zone, there are more than `rowsMax` rows, or it takes too long. */
  | { kind: 'unknown_timezone' | 'too_many_rows' | 'too_slow' };

/** SQLSTATE by answer: invalid_parameter_value, query_canceled. */
const REFUSALS: Readonly<Record<string, 'unknown_timezone' | 'too_slow'>> = {
  '22023': 'unknown_timezone',
  '57014': 'too_slow',
};

/** Credits count when their transfer was written, tasks and calls when they ended: the same transaction. */
export async function readUsage(em: Em, request: UsageRequest): Promise<UsageAnswer> {
  try {
    return await em.transactional((tx) => readOnSnapshot(tx, request), {
      isolationLevel: IsolationLevel.REPEATABLE_READ,
      readOnly: true,
    });
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : null;
    const kind = REFUSALS[String(code)];
    if (kind) return { kind };
    throw error;
  }
}

async function readOnSnapshot(tx: Em, request: UsageRequest): Promise<UsageAnswer> {
  const [snapshot] = await tx.execute<{ asOf: string }[]>(sql`
    select now() as "asOf", now() at time zone ${request.timezone}, set_config('jit', 'off', true)`);
  if (!snapshot) throw new Error('the database answered nothing');
  const found = await tx.execute<StoredRow[]>(sql`
    select start, "group", sum(credits)::text as credits, sum(loss)::text as loss, sum(tasks)::int as tasks,
           sum(calls)::int as calls, sum(failed)::int as failed, sum(prompt_tokens)::float8 as "promptTokens",
           sum(completion_tokens)::float8 as "completionTokens", sum(images)::float8 as images,
           sum(seconds)::float8 as seconds
    from (${transfers(request)} union all ${tasks(request)} union all ${calls(request)}
          union all ${taskLosses(request)}) counted
    group by 1, 2 order by 1, 2 nulls last limit ${request.rowsMax + 1}`);
  if (found.length > request.rowsMax) return { kind: 'too_many_rows' };
  const rows = found.map((row) => ({
    ...row,
    start: new Date(row.start),
    credits: readMicroCredits(row.credits),
    loss: readMicroCredits(row.loss),
  }));
  return { kind: 'summary', rows, asOf: new Date(snapshot.asOf) };
}

type StoredRow = Omit<UsageRow, 'start' | 'credits' | 'loss'> & Record<'start' | 'credits' | 'loss', string>;

/** What a row is grouped by, for each table; the tables have the aliases `l`, `t` and `c`. */
type Grouping = Record<'transfer' | 'task' | 'call', RawQueryFragment>;

function groupingOf({ group, families }: UsageRequest): Grouping {
  const familyOf = (model: RawQueryFragment) =>
    sql`${JSON.stringify(Object.fromEntries(families))}::jsonb ->> ${model}`;
  switch (group) {
    case 'model':
      return { transfer: sql`l.model`, task: sql`t.model`, call: sql`c.model` };
    case 'key':
      return { transfer: sql`l.key_id`, task: sql`t.key_id`, call: sql`c.key_id` };
    case 'user':
      return { transfer: sql`l.account_id`, task: sql`t.user_id`, call: sql`c.user_id` };
    case 'kind':
      return {
        transfer: sql`case when l.call_id is not null then ${CHAT_KIND} else t.mode end`,
        task: sql`t.mode`,
        call: sql`${CHAT_KIND}::text`,
      };
    case 'family':
      return {
        transfer: sql`coalesce(t.family, ${familyOf(sql`l.model`)})`,
        task: sql`t.family`,
        call: familyOf(sql`c.model`),
      };
    case 'none':
      return { transfer: sql`null::text`, task: sql`null::text`, call: sql`null::text` };
  }
}

/**
 * What the ledger moved; a transfer whose task is gone stays in the sum. Each table is summed by itself: sums
 * of zeros took as long as those of figures.
 */
function transfers(request: UsageRequest): RawQueryFragment {
  const at = sql`l.created_at`;
  const needsTask = request.group === 'kind' || request.group === 'family';
  return sql`
    select ${startOf(request, at)} as start, ${groupingOf(request).transfer} as "group", -sum(l.amount) as credits,
           0::numeric as loss, 0::bigint as tasks, 0::bigint as calls, 0::bigint as failed, 0::bigint as prompt_tokens,
           0::bigint as completion_tokens, 0::numeric as images, 0::numeric as seconds
    from ledger_transfer l ${needsTask ? sql`left join task t on t.id = l.task_id` : sql``}
    where l.kind in ('charge', 'refund') and ${isIn(request, at, sql`l.account_id`)}
    group by 1, 2`;
}

function tasks(request: UsageRequest): RawQueryFragment {
  const at = sql`t.completed_at`;
  return sql`
    select ${startOf(request, at)}, ${groupingOf(request).task}, 0, 0, count(*), 0,
           count(*) filter (where t.status = 'failed'), 0, 0,
           coalesce(sum((t.ordered ->> 'images')::numeric) filter (where t.status = 'completed' and t.mode = 'image'), 0),
           coalesce(sum((t.ordered ->> 'seconds')::numeric) filter (where t.status = 'completed' and t.mode = 'video'), 0)
    from task t where ${isIn(request, at, sql`t.user_id`)}
    group by 1, 2`;
}

function calls(request: UsageRequest): RawQueryFragment {
  const at = sql`c.settled_at`;
  return sql`
    select ${startOf(request, at)}, ${groupingOf(request).call}, 0, sum(c.loss), 0, count(*),
           count(*) filter (where c.status = 'failed'), coalesce(sum(c.prompt_tokens), 0),
           coalesce(sum(c.completion_tokens), 0), 0, 0
    from chat_call c where ${isIn(request, at, sql`c.user_id`)}
    group by 1, 2`;
}

/** An attempt that was retried has its loss, too, when it ended. */
function taskLosses(request: UsageRequest): RawQueryFragment {
  const at = sql`a.settled_at`;
  return sql`
    select ${startOf(request, at)}, ${groupingOf(request).task}, 0, sum(a.loss), 0, 0, 0, 0, 0, 0, 0
    from task_attempt a join task t on t.id = a.task_id
    where a.loss > 0 and ${isIn(request, at, sql`a.user_id`)}
    group by 1, 2`;
}

function startOf({ interval, timezone }: UsageRequest, at: RawQueryFragment): RawQueryFragment {
  return sql`date_trunc(${interval}, ${at}, ${timezone})`;
}

/** Seconds since 1970 instead of a text: PostgreSQL does not read all years that JavaScript writes. */
function isIn({ userId, from, to }: UsageRequest, at: RawQueryFragment, owner: RawQueryFragment) {
  const period = sql`${at} >= to_timestamp(${from.getTime() / 1000}) and ${at} < to_timestamp(${to.getTime() / 1000})`;
  return userId === null ? period : sql`${owner} = ${userId} and ${period}`;
}
