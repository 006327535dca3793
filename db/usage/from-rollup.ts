// The sums of usage that were carried forward, by interval and group: few rows are looked at for each.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import type { UsageGroup, UsageInterval } from '../../domain/usage.ts';
import type { Em } from '../database.ts';
import { divide, type Span } from './pieces.ts';
import { SUMS, type Period } from './sources.ts';

interface RollupRequest {
  userId: string | null;
  interval: UsageInterval;
  timezone: string;
  group: UsageGroup;
}

/** `SUMS` of a row of `sumRollup`, added or taken away. */
export const SIGNED_SUMS = sql`
  sign * credits as credits, sign * loss as loss, sign * tasks as tasks, sign * calls as calls, sign * failed as failed,
  sign * prompt_tokens as prompt_tokens, sign * completion_tokens as completion_tokens, sign * images as images,
  sign * seconds as seconds`;

/** Moments so far apart are in each hour, day and month of any time zone. */
const STEPS = { hour: '15 minutes', day: '6 hours', month: '1 day' } as const satisfies Record<
  UsageInterval,
  string
>;

/** The columns that tell groups apart. */
const COLUMNS: Readonly<Record<UsageGroup, RawQueryFragment>> = {
  none: sql`r.nothing`,
  model: sql`r.model`,
  key: sql`r.key_id`,
  user: sql`r.user_id`,
  kind: sql`r.kind`,
  family: sql`r.family, r.model`,
};
/** As bigint: PostgreSQL sums bigints to numerics, which take several times as long to be added up again. */
const TOTALS = sql`
  sum(credits)::bigint as credits, sum(loss)::bigint as loss, sum(tasks)::bigint as tasks,
  sum(calls)::bigint as calls, sum(failed)::bigint as failed, sum(prompt_tokens)::bigint as prompt_tokens,
  sum(completion_tokens)::bigint as completion_tokens, sum(images) as images, sum(seconds) as seconds`;

/**
 * The sums of whole buckets, as a part of a statement: `start`, the columns of the group, which are empty
 * texts for what is unknown, `SUMS`, and `sign`. `lastAt`: no bucket is later.
 */
export async function sumRollup(
  tx: Em,
  request: RollupRequest,
  period: Period,
  lastAt: Date,
): Promise<RawQueryFragment> {
  const pieces = await listPieces(tx, request, period, lastAt);
  return sql`
    select v.start, s.*, v.sign from jsonb_to_recordset(${JSON.stringify(pieces)}::jsonb) as p (
      span text, since_s float8, until_s float8, added_to_s float8, taken_from_s float8
    ) cross join lateral (
      select to_timestamp(since_s) as since, to_timestamp(until_s) as until, to_timestamp(added_to_s) as added_to,
             to_timestamp(taken_from_s) as taken_from
    ) m cross join lateral (${sumsWithin(request)}
    ) s cross join lateral (values (m.added_to, 1), (m.taken_from, -1)) v (start, sign) where v.start is not null`;
}

/** A piece in seconds since 1970: not every year has a text that both sides read. */
interface StoredPiece {
  span: Span;
  since_s: number;
  until_s: number;
  added_to_s: number | null;
  taken_from_s: number | null;
}

/** Divides the period into its intervals, and these into pieces. */
async function listPieces(
  tx: Em,
  { interval, timezone }: RollupRequest,
  { from, to }: Period,
  lastAt: Date,
): Promise<StoredPiece[]> {
  const lastMs = (to?.getTime() ?? lastAt.getTime() + 1) - 1;
  const last = sql`to_timestamp(${Math.max(lastMs, from.getTime()) / 1000})`;
  const rows = await tx.execute<{ seconds: number }[]>(sql`
    select distinct extract(epoch from date_trunc(${interval}, at, ${timezone}))::float8 as seconds from (
      select generate_series(to_timestamp(${from.getTime() / 1000}), ${last}, ${STEPS[interval]}::interval)
      union all select ${last}
    ) m (at) order by 1`);
  const starts = rows.map(({ seconds }) => seconds);
  const later = starts.slice(1).map((seconds) => new Date(seconds * 1000));
  const end = to ?? new Date(Date.UTC(lastAt.getUTCFullYear(), lastAt.getUTCMonth() + 2));
  const startOf = (number: number | null): number | null =>
    number === null ? null : (starts[number] ?? null);
  return divide([from, ...later, end]).map((piece) => ({
    span: piece.span,
    since_s: piece.from.getTime() / 1000,
    until_s: piece.to.getTime() / 1000,
    added_to_s: startOf(piece.addedTo),
    taken_from_s: startOf(piece.takenFrom),
  }));
}

/**
 * The sums of the piece `p`, from `m.since` to `m.until`. Of one user, or of all users together: their spans
 * and buckets, group by group. Of each user or key beside the others: comparisons, and the buckets of all, as
 * they are, because there is one row of each span, and all are added up in the end.
 */
function sumsWithin({ userId, group }: RollupRequest): RawQueryFragment {
  if (userId === null && (group === 'user' || group === 'key')) return rowsOfEach(group);
  const user = userId ?? '';
  return sql`
    select ${COLUMNS[group]}, ${TOTALS} from (
      select null as nothing, key_id, user_id, kind, model, family, ${SUMS} from usage_span
      where user_id = ${user} and span = p.span and start >= m.since and start < m.until
      union all
      select null, key_id, user_id, kind, model, family, ${SUMS} from usage_rollup
      where p.span = 'quarter' and user_id = ${user} and bucket >= m.since and bucket < m.until
    ) r group by ${COLUMNS[group]}`;
}

function rowsOfEach(group: 'user' | 'key'): RawQueryFragment {
  const isCompared = group === 'user' ? sql`key_id = '*'` : sql`key_id <> '*'`;
  return sql`
    select user_id, key_id, ${SUMS} from usage_comparison
    where span = p.span and start >= m.since and start < m.until and ${isCompared}
    union all
    select user_id, key_id, ${SUMS} from usage_rollup
    where p.span = 'quarter' and user_id <> '' and bucket >= m.since and bucket < m.until`;
}
