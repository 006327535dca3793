// The sums of usage against their own marks and against each other, in full: for the check by hand.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { USAGE_RULE, type Violation } from './rules.ts';

/** All that summaries count. */
const COUNTED = [
  'credits',
  'loss',
  'tasks',
  'calls',
  'failed',
  'prompt_tokens',
  'completion_tokens',
  'images',
  'seconds',
];
const TOTALS = COUNTED.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0) as ${sql.ref(name)}`).reduce(
  (all, one) => sql`${all}, ${one}`,
);
/** What each is the sum of. */
const FINER = { day: ['hour', 'six_hours'], month: ['day'] } as const;

/**
 * Finds accounts of these whose sums by quarter of an hour do not add up to what their mark says, or, as far
 * as they are in spans, to those by hour, six hours, day and month, or to those beside other users. With that
 * and the rule that holds the mark against the ledger, a summary over all time is the ledger's sum. The
 * account '' stands for all users.
 */
export async function findUsageViolations(tx: Em, userIds: readonly string[]): Promise<Violation[]> {
  const spans = (['hour', 'six_hours', 'day', 'month'] as const).map(
    (span) => sql`
      select i.id, ${TOTALS} from usage_span s where s.user_id = i.id and s.span = ${span}`,
  );
  const compared = sql`
    select i.id, ${TOTALS} from (
      select distinct start from usage_span where user_id = i.id and span = 'month'
    ) m join usage_comparison c on c.span = 'month' and c.start = m.start and c.user_id = i.id and c.key_id = '*'
    having i.id <> ''`;
  return tx.execute<Violation[]>(sql`
    select distinct ${USAGE_RULE} as rule, i.id as subject, nullif(i.id, '') as "userId"
    from jsonb_array_elements_text(${JSON.stringify(userIds)}::jsonb) i (id)
    cross join lateral (select coalesce(sum(credits), 0) as credits from usage_rollup where user_id = i.id) every
    cross join lateral (select i.id, ${TOTALS} from usage_rollup r where r.user_id = i.id and r.is_spanned) r
    cross join lateral (${unite([...spans, compared])}) s
    where r is distinct from s
      or every.credits <> (select coalesce(sum(m.charged), 0) from usage_mark m where i.id in (m.user_id, ''))`);
}

/** The days and months of which there are sums, for `findComparisonViolations`. */
export async function listComparedSpans(tx: Em): Promise<ComparedSpan[]> {
  return tx.execute<ComparedSpan[]>(sql`
    select distinct span, start::text as start from usage_span
    where user_id = '' and span in ('day', 'month') order by 1, 2`);
}

export interface ComparedSpan {
  span: 'day' | 'month';
  /** As the database writes it. */
  start: string;
}

/**
 * Finds users whose sums of this day or month, beside those of others, are not what their keys, or the spans
 * within it, add up to.
 */
export async function findComparisonViolations(tx: Em, { span, start }: ComparedSpan): Promise<Violation[]> {
  const end = sql`(${start}::timestamptz at time zone 'utc' + ${`1 ${span}`}::interval) at time zone 'utc'`;
  const rows = sql`select user_id, key_id, ${TOTALS} from usage_comparison`;
  const finer: readonly string[] = FINER[span];
  const parts = finer
    .map(
      (part) => sql`${sql.ref(part)} as materialized (
      ${rows} where span = ${part} and start >= ${start}::timestamptz and start < ${end} group by 1, 2)`,
    )
    .reduce((all, part) => sql`${all}, ${part}`);
  const whole = sql`${rows} where span = ${span} and start = ${start}::timestamptz group by 1, 2`;
  const keys = sql`
    select user_id, '*' as key_id, ${TOTALS} from usage_comparison
    where span = ${span} and start = ${start}::timestamptz and key_id <> '*' group by 1`;
  return tx.execute<Violation[]>(sql`
    with whole as materialized (${whole}), ${parts}, keys as materialized (${keys}), differing as (
      ${unite(finer.flatMap((part) => [differences('whole', part), differences(part, 'whole')]))}
      union all (select * from keys except select * from whole)
      union all (select * from whole where key_id = '*' except select * from keys)
    )
    select distinct ${USAGE_RULE} as rule, ${`${span} ${start}`} as subject, user_id as "userId" from differing`);
}

function differences(one: string, other: string): RawQueryFragment {
  return sql`(select * from ${sql.ref(one)} except select * from ${sql.ref(other)})`;
}

function unite(parts: readonly RawQueryFragment[]): RawQueryFragment {
  return parts.reduce((all, part) => sql`${all} union all ${part}`);
}
