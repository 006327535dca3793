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

/** `SUMS`, added or taken away. */
const SIGNED = sql`
  sign * credits as credits, sign * loss as loss, sign * tasks as tasks, sign * calls as calls, sign * failed as failed,
  sign * prompt_tokens as prompt_tokens, sign * completion_tokens as completion_tokens, sign * images as images,
  sign * seconds as seconds`;
const TAKEN = sql`
  -credits as credits, -loss as loss, -tasks as tasks, -calls as calls, -failed as failed, -prompt_tokens as prompt_tokens,
  -completion_tokens as completion_tokens, -images as images, -seconds as seconds`;

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
/** `add_up` is `sum` in the type of the column, for less of the processor (`108-usage-additions.ts`). */
export const TOTALS = sql`
  add_up(credits) as credits, add_up(loss) as loss, add_up(tasks) as tasks, add_up(calls) as calls,
  add_up(failed) as failed, add_up(prompt_tokens) as prompt_tokens, add_up(completion_tokens) as completion_tokens,
  add_up(images) as images, add_up(seconds) as seconds`;

/**
 * The sums of whole buckets, as a part of a statement: `start`, the columns of the group, which are empty
 * texts for what is unknown, and `SUMS`. `lastAt`: no bucket is later.
 */
export async function sumRollup(
  tx: Em,
  request: RollupRequest,
  period: Period,
  lastAt: Date,
): Promise<RawQueryFragment> {
  const { userId, group } = request;
  const pieces = await listPieces(tx, request, period, lastAt);
  if (userId === null && (group === 'user' || group === 'key')) return rowsOfEach(group, pieces);
  return sql`
    select v.start, ${COLUMNS[group]}, ${SIGNED} from ${selectPieces(pieces)}
    cross join lateral (${sumsWithin(userId ?? '', group)}
    ) r cross join lateral (values (p.added_to, 1), (p.taken_from, -1)) v (start, sign) where v.start is not null`;
}

/** A piece in seconds since 1970: not every year has a text that both sides read. */
interface StoredPiece {
  span: Span;
  since_s: number;
  until_s: number;
  /** The beginning of an interval. */
  added_to_s: number | null;
  taken_from_s: number | null;
}

/** The pieces `p` as a source. The limit tells the planner how many there are, of a hundred at most. */
function selectPieces(pieces: readonly StoredPiece[]): RawQueryFragment {
  return sql`(
    select span, to_timestamp(since_s) as since, to_timestamp(until_s) as until, to_timestamp(added_to_s) as added_to,
           to_timestamp(taken_from_s) as taken_from
    from jsonb_to_recordset(${JSON.stringify(pieces)}::jsonb) as j (
      span text, since_s float8, until_s float8, added_to_s float8, taken_from_s float8
    ) limit ${pieces.length}
  ) p`;
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
 * The sums of the piece `p` group by group: of one user, or, with the user '', of all users together. What is
 * in no span yet is of the last half hour or so, and is added to those that it will be in.
 */
function sumsWithin(userId: string, group: UsageGroup): RawQueryFragment {
  return sql`
    select ${COLUMNS[group]}, ${TOTALS} from (
      select null as nothing, key_id, user_id, kind, model, family, ${SUMS} from usage_span
      where user_id = ${userId} and span = p.span and start >= p.since and start < p.until
      union all
      select null, key_id, user_id, kind, model, family, ${SUMS} from usage_rollup
      where p.span = 'quarter' and user_id = ${userId} and bucket >= p.since and bucket < p.until
      union all
      select null, key_id, user_id, kind, model, family, ${SUMS} from usage_rollup
      where p.span <> 'quarter' and not is_spanned and user_id = ${userId} and bucket >= p.since and bucket < p.until
    ) r group by ${COLUMNS[group]}`;
}

/**
 * Each user or key beside the others: comparisons, and the buckets of all, as they are, because there is one
 * row of each span, and all are added up in the end. Pieces that are taken away are read once more: there are
 * so many rows that finding a third of them again takes less time than doubling each.
 */
function rowsOfEach(group: 'user' | 'key', pieces: readonly StoredPiece[]): RawQueryFragment {
  const isCompared = group === 'user' ? sql`key_id = '*'` : sql`key_id <> '*'`;
  const rows = sql`
    select user_id, key_id, ${SUMS} from usage_comparison
    where span = p.span and start >= p.since and start < p.until and ${isCompared}
    union all
    select user_id, key_id, ${SUMS} from usage_rollup
    where p.span = 'quarter' and user_id <> '' and bucket >= p.since and bucket < p.until
    union all
    select user_id, key_id, ${SUMS} from usage_rollup
    where p.span <> 'quarter' and not is_spanned and user_id <> '' and bucket >= p.since and bucket < p.until`;
  const [added, taken] = [
    pieces.filter((piece) => piece.added_to_s !== null),
    pieces.filter((piece) => piece.taken_from_s !== null),
  ];
  const all = sql`
    select p.added_to as start, ${COLUMNS[group]}, ${SUMS} from ${selectPieces(added)} cross join lateral (${rows}) r`;
  if (taken.length === 0) return all;
  return sql`${all} union all
    select p.taken_from, ${COLUMNS[group]}, ${TAKEN} from ${selectPieces(taken)} cross join lateral (${rows}) r`;
}
