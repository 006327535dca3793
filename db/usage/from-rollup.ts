// The sums of usage that were carried forward, by interval and group: few rows are looked at for each.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import type { UsageGroup, UsageInterval } from '../../domain/usage.ts';
import { SUMS, type Period } from './sources.ts';

interface RollupRequest {
  userId: string | null;
  interval: UsageInterval;
  timezone: string;
  group: UsageGroup;
}

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
const TOTALS = sql`
  sum(credits) as credits, sum(loss) as loss, sum(tasks) as tasks, sum(calls) as calls, sum(failed) as failed,
  sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens, sum(images) as images,
  sum(seconds) as seconds`;

/**
 * The sums of whole buckets, as a part of a statement: `start`, the columns of the group, which are empty
 * texts for what is unknown, and `SUMS`. The period is divided into its intervals first, so that no bucket
 * has to be asked for its own. `lastAt`: no bucket is later.
 */
export function sumRollup(request: RollupRequest, period: Period, lastAt: Date): RawQueryFragment {
  const { interval, timezone, group } = request;
  const from = sql`to_timestamp(${period.from.getTime() / 1000})`;
  const to =
    period.to === null ? sql`'infinity'::timestamptz` : sql`to_timestamp(${period.to.getTime() / 1000})`;
  const last = sql`to_timestamp(${((period.to?.getTime() ?? lastAt.getTime() + 1) - 1) / 1000})`;
  return sql`
    select i.start, s.* from (
      select start, greatest(start, ${from}) as since,
             least(lead(start) over (order by start), ${to}) as until
      from (
        select distinct date_trunc(${interval}, at, ${timezone}) as start
        from (select generate_series(${from}, ${last}, ${STEPS[interval]}::interval) union all select ${last}) m (at)
      ) d
    ) i cross join lateral (
      select ${COLUMNS[group]}, ${TOTALS} from (${rowsWithin(request)}) r group by ${COLUMNS[group]}
    ) s`;
}

/**
 * The rows of the interval `i`. Of one user, or of all users together: buckets. Of each user: days of UTC,
 * and buckets where the interval begins or ends within a day.
 */
function rowsWithin({ userId, group }: RollupRequest): RawQueryFragment {
  if (userId !== null || (group !== 'user' && group !== 'key'))
    return sql`
      select null as nothing, user_id, key_id, kind, model, family, ${SUMS} from usage_rollup
      where user_id = ${userId ?? ''} and bucket >= i.since and bucket < i.until`;
  const firstDay = sql`date_bin('1 day', i.since + interval '1 day' - interval '1 microsecond', 'epoch')`;
  const endDay = sql`date_bin('1 day', i.until, 'epoch')`;
  const head = sql`least(${firstDay}, i.until)`;
  return sql`
    select user_id, key_id, ${SUMS} from usage_day
    where day >= (${firstDay} at time zone 'utc')::date and day < (${endDay} at time zone 'utc')::date
    union all
    select user_id, key_id, ${SUMS} from usage_rollup
    where user_id <> '' and bucket >= i.since and bucket < ${head}
    union all
    select user_id, key_id, ${SUMS} from usage_rollup
    where user_id <> '' and bucket >= greatest(${endDay}, ${head}) and bucket < i.until`;
}
