// Carries the sums of usage forward: transfers by the sequence of their account, ends of tasks and calls by
// time.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { timeOfId } from '../ids.ts';
import { ENDS, isWithin, SUMS, TRANSFERS, type Period, type UsageSource } from './sources.ts';

/** Every time zone that is in use has its days begin on such a boundary of UTC. */
export const BUCKET_MS = 15 * 60_000;
/** Accounts that one step looks at, and transfers that it adds at most, about: a correction waits for it. */
const ACCOUNTS_PER_STEP = 500;
const TRANSFERS_PER_STEP = 5_000;
/** Sums of quarters that one step adds to their spans; each is in twelve of these. */
const SPANNED_PER_STEP = 500;
/** The clock may be set back by so much without an end being missed. */
const CLOCK_MARGIN_SECONDS = 10;
/** Ids are made by the clocks of other machines. */
const ID_MARGIN_MS = 86_400_000;

/**
 * The time before which every transaction has ended: nothing that commits from now on has an earlier time.
 * The transactions of all processes of the product are seen, since they share one role.
 */
export async function readHorizon(em: Em): Promise<Date> {
  const [row] = await em.execute<{ horizon: string }[]>(sql`
    select least(clock_timestamp(), min(xact_start)) - make_interval(secs => ${CLOCK_MARGIN_SECONDS}) as horizon
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`);
  if (!row) throw new Error('the database answered nothing');
  return new Date(row.horizon);
}

/**
 * Adds what was charged and refunded on the next accounts after `after`, up to their newest transfer. A
 * sequence has no gaps, and a transfer is visible before any later one: none is missed or added twice.
 * Answers where to go on, null at the last account.
 */
export async function addTransfers(em: Em, after: string): Promise<string | null> {
  return em.transactional(async (tx) => {
    await findByIndex(tx);
    await lockWatermark(tx);
    const [row] = await tx.execute<{ next: string | null }[]>(sql`
      with holder as materialized (
        select user_id, sequence from account where user_id > ${after} order by user_id limit ${ACCOUNTS_PER_STEP}
      ), due as materialized (
        select h.user_id, coalesce(m.sequence, 0) as done, h.sequence as last,
               ceil(${TRANSFERS_PER_STEP} / (count(*) over ())::numeric)::bigint as more
        from holder h left join usage_mark m using (user_id) where h.sequence > coalesce(m.sequence, 0)
      ), counted as materialized (
        select ${keysOf(TRANSFERS)}, ${TRANSFERS.sums}
        from due d join ledger_transfer l on l.account_id = d.user_id and l.sequence > d.done and l.sequence <= d.done + d.more
        left join task t on t.id = l.task_id
        where ${TRANSFERS.where} group by 1, 2, 3, 4, 5, 6
      ), added as (
        ${addSums(sql`counted`)}
      ), marked as (
        insert into usage_mark as m (user_id, sequence, charged)
        select user_id, max(until), coalesce(sum(credits), 0) from (
          select user_id, least(last, done + more) as until, null as credits from due
          union all select user_id, null, credits from counted
        ) m group by user_id
        on conflict (user_id) do update set sequence = excluded.sequence, charged = m.charged + excluded.charged
      )
      select case when exists (select from due where last > done + more) then ${after}
                  when (select count(*) from holder) = ${ACCOUNTS_PER_STEP} then (select max(user_id) from holder) end as next`);
    return row?.next ?? null;
  });
}

/**
 * Adds the tasks and calls that ended since the watermark, at most `stepMs` of them, and before `horizon`,
 * and moves the watermark there. Answers where it stands, and how many sums were written.
 */
export async function addEnds(
  em: Em,
  horizon: Date,
  stepMs: number,
): Promise<{ until: Date; written: number }> {
  return em.transactional(async (tx) => {
    await findByIndex(tx);
    const from = (await lockWatermark(tx)) ?? (await readBeginning(tx)) ?? horizon;
    const to = new Date(Math.min(horizon.getTime(), from.getTime() + stepMs));
    if (to < from) return { until: from, written: 0 };
    const [row] = await tx.execute<{ written: number }[]>(sql`
      with counted as materialized (${countRows(ENDS, { from, to })}), added as (${addSums(sql`counted`)} returning 1),
      moved as (update usage_watermark set until = to_timestamp(${to.getTime() / 1000}))
      select count(*)::int as written from added`);
    return { until: to, written: row?.written ?? 0 };
  });
}

/**
 * Adds the sums of quarters that were over at the watermark to those of the spans that they are in (hour, six
 * hours, day and month): some of them, oldest first. Those of the present quarter change with every round,
 * and each change would be twelve more. Triggers add what a late transfer or a correction changes afterwards.
 * Answers whether there were as many as one step adds, so that there may be more.
 */
export async function spanQuarters(em: Em): Promise<boolean> {
  return em.transactional(async (tx) => {
    await findByIndex(tx);
    await lockWatermark(tx);
    const spanned = await tx.execute(sql`
      update usage_rollup r set is_spanned = true
      from (
        select user_id, bucket, key_id, kind, model, family from usage_rollup
        where not is_spanned and bucket < (select date_bin('15 minutes', until, 'epoch') from usage_watermark)
        order by bucket, user_id limit ${SPANNED_PER_STEP}
      ) d
      where (r.user_id, r.bucket, r.key_id, r.kind, r.model, r.family)
        = (d.user_id, d.bucket, d.key_id, d.kind, d.model, d.family)
      returning 1`);
    return spanned.length === SPANNED_PER_STEP;
  });
}

/** What the rows of these sources count in a period, by the keys of the sums: for `addSums`. */
export function countRows(sources: readonly UsageSource[], period: Period): RawQueryFragment {
  return sources
    .map(
      (source) => sql`
        select ${keysOf(source)}, ${source.sums} from ${source.from}
        where ${source.where} and ${isWithin(source.at, period)} group by 1, 2, 3, 4, 5, 6`,
    )
    .reduce((all, one) => sql`${all} union all ${one}`);
}

/**
 * Adds the sums of the CTE to those of each user, and to those of all users, in a table such as this. New
 * ones are in no span yet.
 */
export function addSums(source: RawQueryFragment, table = sql`usage_rollup`): RawQueryFragment {
  return sql`
    insert into ${table} as r (user_id, bucket, key_id, kind, model, family, is_spanned, ${SUMS})
    select coalesce(user_id, ''), bucket, coalesce(key_id, ''), kind, model, family, false, sum(credits), sum(loss),
           sum(tasks), sum(calls), sum(failed), sum(prompt_tokens), sum(completion_tokens), sum(images), sum(seconds)
    from ${source}
    group by grouping sets ((user_id, bucket, key_id, kind, model, family), (bucket, kind, model, family))
    order by 2, 1, 3, 4, 5, 6
    on conflict (user_id, bucket, key_id, kind, model, family) do update
    set credits = r.credits + excluded.credits, loss = r.loss + excluded.loss, tasks = r.tasks + excluded.tasks,
        calls = r.calls + excluded.calls, failed = r.failed + excluded.failed,
        prompt_tokens = r.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = r.completion_tokens + excluded.completion_tokens, images = r.images + excluded.images,
        seconds = r.seconds + excluded.seconds`;
}

/**
 * Rows are found by their indexes, whatever the statistics say: a step must stay as short as its rows are
 * few.
 */
async function findByIndex(tx: Em): Promise<void> {
  await tx.execute(sql`
    select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`);
}

/** Serialises all carrying forward, and corrections with it. Null before the first. */
async function lockWatermark(tx: Em): Promise<Date | null> {
  const [row] = await tx.execute<{ until: string | null }[]>(sql`
    select nullif(until, '-infinity')::text as until from usage_watermark for update`);
  return row?.until ? new Date(row.until) : null;
}

/** Before the first task and call ended; null when there are none. */
async function readBeginning(tx: Em): Promise<Date | null> {
  const [row] = await tx.execute<{ task: string | null; call: string | null }[]>(sql`
    select (select min(id) from task) as task, (select min(c.id) from account a cross join lateral (
      select id from chat_call c where c.user_id = a.user_id order by id limit 1) c) as call`);
  const times = [row?.task, row?.call].flatMap((id) => (id ? [timeOfId(id).getTime()] : []));
  return times.length > 0 ? new Date(Math.min(...times) - ID_MARGIN_MS) : null;
}

/** The keys of a source's sums, in the order of the table's. */
function keysOf({ userId, at, keyId, kind, model, family }: UsageSource): RawQueryFragment {
  return sql`
    ${userId} as user_id, date_bin('15 minutes', ${at}, 'epoch') as bucket, coalesce(${keyId}, '') as key_id,
    coalesce(${kind}, '') as kind, coalesce(${model}, '') as model, coalesce(${family}, '') as family`;
}
