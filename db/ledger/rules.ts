// The rules of money, each as what violates it, for steps over accounts. Others: code-rules.ts, strangers.ts.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { FIRST_UNSETTLED, type Step } from './walk.ts';

export interface Violation {
  rule: string;
  subject: string;
  /** The user whose account is concerned; null where it is not one user's. */
  userId: string | null;
}

/** A day's figures limit a key and are no balance: no reason to freeze the account. */
export const DAY_RULE = 'a key’s day has reserved and used what was taken on that day';
/** A wrong summary is no wrong balance either. */
export const USAGE_RULE = 'summaries of usage add up to what was charged';

/** With more transfers than these behind their mark, summaries are compared when they have caught up. */
const UNSUMMED_MAX = 10_000;

/**
 * Finds what violates the rules in these steps over accounts. What compares the account's figures with sums
 * over its transfers waits for the step that reaches the end; what is open is always compared. Each row is
 * found by an index. The calls of a step are compared with the transfers that name them, both read in the
 * order of their ids; asked for one by one are those that a transfer names from outside of the step. Tasks
 * that the walk does not pass yet (`FIRST_UNSETTLED`) are looked at with every step. Calls that were removed
 * by age are missing lawfully, and with them the figures of a key's day from that time. That all sides of the
 * ledger sum to zero needs no rule: a transfer is one row with one amount. Call it in the transaction, and so
 * on the snapshot, of the steps.
 */
// oxlint-disable-next-line eslint/max-lines-per-function -- one SQL statement
export async function findAccountViolations(
  tx: Em,
  steps: readonly Step[],
  rowsMax: number,
): Promise<Violation[]> {
  return tx.execute<Violation[]>(sql`
    with step as materialized (
      select s.user_id, s.is_reached, (s.to ->> 'sequence')::bigint as sequence,
             (s.to ->> 'balance')::bigint as balance, (s.to ->> 'granted')::bigint as granted,
             (s.to ->> 'charged')::bigint as charged, s.to -> 'keys' as keys, s.to ->> 'call_id' as call_id,
             (s.from ->> 'sequence')::bigint as from_sequence, (s.from ->> 'balance')::bigint as from_balance,
             s.from ->> 'call_id' as from_call, (s.from ->> 'task_xid')::xid8 as from_xid,
             s.from ->> 'task_id' as from_task
      from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as s (user_id text, is_reached boolean, "from" jsonb, "to" jsonb)
    ), removal as materialized (
      select coalesce(max(before_id), '') as before_id,
             coalesce((max(removed_before) at time zone 'utc')::date, '-infinity') as day
      from retention where subject = 'call'
    ), holder as materialized (
      select a.*, s.is_reached, s.balance as sum, s.granted, s.charged from step s join account a using (user_id)
    ), moved as materialized (
      select t.*, s.from_balance, s.from_call, s.call_id as last_call from step s join ledger_transfer t
        on t.account_id = s.user_id and t.sequence > s.from_sequence and t.sequence <= s.sequence
    ), call_range as materialized (
      select s.user_id, greatest(s.from_call, r.before_id) as after_id, s.call_id as last_id from step s, removal r
    ), passed_task as materialized (
      select t.* from step s cross join lateral (
        (select t.id, t.user_id, t.status, t.attempt, t.credits_charged from task t
         where t.user_id = s.user_id and t.changed_xid >= s.from_xid
           and (t.changed_xid > s.from_xid or t.id > s.from_task) and t.changed_xid < ${FIRST_UNSETTLED}
         order by t.changed_xid, t.id limit ${rowsMax}::int)
        union all
        select t.id, t.user_id, t.status, t.attempt, t.credits_charged from task t
        where t.user_id = s.user_id and t.changed_xid >= ${FIRST_UNSETTLED}
      ) t
    ), open_task as materialized (
      select t.id, t.user_id, t.key_id, t.status, t.attempt, t.admitted_at, t.credits_estimate
      from step s join task t on t.user_id = s.user_id and t.status in ('queued', 'in_progress')
    ), open_attempt as materialized (
      select r.* from step s join task_attempt r on r.user_id = s.user_id and r.state = 'open'
    ), any_open_call as materialized (
      select user_id, key_id, day, credits_reserved from chat_call where status = 'open'
    ), held as materialized (
      select user_id, key_id, day, amount from open_attempt
      union all
      select c.* from any_open_call c join step s using (user_id)
    ), reserved as (
      select user_id, sum(amount) as amount from held group by user_id
    ), waiting as (
      select user_id, count(*) filter (where status = 'queued') as queued,
             count(*) filter (where status = 'in_progress') as running,
             sum(credits_estimate) filter (where status = 'queued' and admitted_at is null) as earmarked
      from open_task group by user_id
    ), named_attempt as materialized (
      select t.account_id as user_id, t.task_id, t.attempt from moved t where t.task_id is not null
      union
      select r.user_id, r.task_id, r.attempt from passed_task t join task_attempt r on r.task_id = t.id
    ), named_call as materialized (
      select m.account_id as user_id, m.call_id as id from moved m, removal r
      where m.call_id <= greatest(m.from_call, r.before_id) or m.call_id > m.last_call
      union
      select c.user_id, c.id from step s cross join removal r join chat_call c
        on c.user_id = s.user_id and c.id > s.from_call and c.id <= least(s.call_id, r.before_id)
    ), compared_call as materialized (
      select user_id, id, sum(shown) as shown, sum(moved) as moved, sum(charges) as charges, sum(calls) as calls from (
        select c.user_id, c.id, c.credits_charged as shown, 0 as moved, 0 as charges, 1 as calls
        from call_range s join chat_call c on c.user_id = s.user_id and c.id > s.after_id and c.id <= s.last_id
        union all
        select c.user_id, c.id, c.credits_charged, 0, 0, 1
        from named_call n join chat_call c on c.user_id = n.user_id and c.id = n.id
        union all
        select t.account_id, t.call_id, 0, -t.amount, (t.idempotency_key is null)::int, 0
        from call_range s join ledger_transfer t
          on t.account_id = s.user_id and t.call_id > s.after_id and t.call_id <= s.last_id
        union all
        select t.account_id, t.call_id, 0, -t.amount, (t.idempotency_key is null)::int, 0
        from named_call n join ledger_transfer t on t.account_id = n.user_id and t.call_id = n.id
      ) c group by user_id, id
    ), spent as materialized (
      select k.id as key_id, k.user_id, p.key_id is null as is_missing, p.day, p.used, p.reserved, p.earmarked, p.day_used,
             p.day_reserved, s.is_reached, coalesce((s.keys #>> array[k.id, 'used'])::bigint, 0) as charged,
             case when (s.keys #>> array[k.id, 'day'])::date = p.day
                  then (s.keys #>> array[k.id, 'dayUsed'])::bigint else 0 end as day_charged,
             (select coalesce(sum(h.amount), 0) from held h where h.key_id = k.id) as open,
             (select coalesce(sum(h.amount), 0) from held h where h.key_id = k.id and h.day = p.day) as day_open,
             (select coalesce(sum(t.credits_estimate), 0) from open_task t
              where t.key_id = k.id and t.status = 'queued' and t.admitted_at is null) as waiting
      from step s join api_key k on k.user_id = s.user_id left join key_spending p on p.key_id = k.id
    )
    select 'balance is the sum of the transfers' as rule, user_id as subject, user_id as "userId"
      from holder where is_reached and balance <> sum
    union all
    select 'granted and charged are the sums of their transfers', user_id, user_id
      from holder where is_reached and (total_granted <> granted or total_charged <> charged)
    union all
    select 'granted less charged is the balance', user_id, user_id
      from holder where total_granted - total_charged <> balance
    union all
    select 'reserved is the sum of open reservations', h.user_id, h.user_id
      from holder h left join reserved r using (user_id) where h.reserved <> coalesce(r.amount, 0)
    union all
    select 'lost is what attempts and calls show', h.user_id, h.user_id
      from holder h where h.total_loss <>
        (select coalesce(sum(loss), 0) from task_attempt r where r.user_id = h.user_id and r.loss > 0)
        + (select coalesce(sum(loss), 0) from chat_call c where c.user_id = h.user_id and c.loss > 0)
        + (select coalesce(sum(loss), 0) from removed_call d where d.user_id = h.user_id)
    union all
    select ${USAGE_RULE}, h.user_id, h.user_id
      from holder h join usage_mark m using (user_id)
      where h.sequence < m.sequence or (h.sequence - m.sequence < ${UNSUMMED_MAX} and h.total_charged <> m.charged
        - (select coalesce(sum(amount), 0) from ledger_transfer t
           where t.account_id = h.user_id and t.sequence > m.sequence and t.kind in ('charge', 'refund')))
    union all
    select 'nothing is negative', user_id, user_id from holder
      where balance < 0 or reserved < 0 or earmarked < 0 or balance - reserved - earmarked < 0
    union all
    select 'earmarked is the sum of the estimates of queued tasks without a reservation', h.user_id, h.user_id
      from holder h left join waiting w using (user_id) where h.earmarked <> coalesce(w.earmarked, 0)
    union all
    select 'queued and running count the open tasks', h.user_id, h.user_id
      from holder h left join waiting w using (user_id)
      where h.queued <> coalesce(w.queued, 0) or h.running <> coalesce(w.running, 0)
    union all
    select 'an account is disabled when its user is', h.user_id, h.user_id
      from holder h join app_user u on u.id = h.user_id where h.disabled_at is distinct from u.disabled_at
    union all
    select 'the sequence has no gaps', s.user_id, s.user_id from step s
      left join (select account_id, count(*) as moves from moved group by account_id) m on m.account_id = s.user_id
      where s.sequence - s.from_sequence <> coalesce(m.moves, 0)
         or exists (select from ledger_transfer t join account a on a.user_id = t.account_id
                    where t.account_id = s.user_id and t.sequence > a.sequence)
    union all
    select distinct 'balanceAfter is a chain', account_id, account_id from (
      select account_id, balance_after - amount as before,
             lag(balance_after, 1, from_balance) over (partition by account_id order by sequence) as previous
      from moved
    ) chain where before <> previous
    union all
    select 'an attempt is charged and refunded by the transfers that name it', n.task_id, n.user_id
      from named_attempt n
      left join task_attempt r on r.task_id = n.task_id and r.attempt = n.attempt and r.user_id = n.user_id
      cross join lateral (
        select coalesce(-sum(amount) filter (where kind = 'charge'), 0) as charged,
               count(*) filter (where kind = 'charge') as charges,
               coalesce(sum(amount) filter (where kind = 'refund'), 0) as refunded
        from ledger_transfer t
        where t.task_id = n.task_id and t.attempt = n.attempt and t.account_id = n.user_id
      ) t
      where coalesce(r.charged, 0) <> t.charged or t.charges > 1 or coalesce(r.refunded, 0) <> t.refunded
    union all
    select 'a call is charged by the transfers that name it', id, user_id from compared_call
      where (shown <> moved or charges > 1) and (calls > 0 or id >= (select before_id from removal))
    union all
    select 'a charge or refund names what it is for, and nothing else does', id, account_id from moved
      where (kind in ('charge', 'refund')) <> (task_id is not null or call_id is not null)
         or (task_id is not null and call_id is not null)
    union all
    select 'an open reservation belongs to an open task', r.task_id, r.user_id
      from open_attempt r left join task t on t.id = r.task_id
      where t.id is null or t.status not in ('queued', 'in_progress') or t.attempt <> r.attempt
    union all
    select 'an admitted open task has an open reservation', t.id, t.user_id
      from open_task t left join task_attempt r on r.task_id = t.id and r.attempt = t.attempt and r.state = 'open'
      where t.admitted_at is not null and r.task_id is null
    union all
    select 'a completed task is charged once, the amount it shows', t.id, t.user_id
      from passed_task t left join task_attempt r on r.task_id = t.id and r.state = 'charged'
      where t.status = 'completed'
      group by t.id, t.user_id, t.credits_charged, t.attempt
      having count(r.task_id) <> 1 or max(r.charged) <> t.credits_charged or max(r.attempt) <> t.attempt
    union all
    select 'a task that did not complete is not charged', t.id, t.user_id
      from passed_task t join task_attempt r on r.task_id = t.id and r.state = 'charged'
      where t.status <> 'completed'
    union all
    select 'a key has earmarked what its queued tasks wait with', key_id, user_id
      from spent where earmarked <> waiting
    union all
    select 'a key has reserved what is open and used what was charged', key_id, user_id
      from spent where reserved <> open or (is_reached and used <> charged)
    union all
    select ${DAY_RULE}, key_id, user_id
      from spent where is_reached and (day_reserved <> day_open or day_used <> day_charged)
        and day > (select day from removal)
    union all
    select 'every key has its spending', key_id, user_id from spent where is_missing
    union all
    select 'a redemption stands behind every redeemed grant', t.id, t.account_id
      from moved t left join redemption d on d.user_id = t.account_id and d.transfer_sequence = t.sequence
      where t.kind = 'redeem' and (d.id is null or t.amount <> d.credits)
    union all
    select 'a redemption stands behind every redeemed grant', t.id, t.account_id
      from step s
      join redemption d on d.user_id = s.user_id and d.transfer_sequence > s.from_sequence
        and d.transfer_sequence <= s.sequence
      join ledger_transfer t on t.account_id = d.user_id and t.sequence = d.transfer_sequence
      where t.kind <> 'redeem'
    union all
    select 'an audit entry or a redemption stands behind added credits', t.id, t.account_id
      from moved t join credited_transfer c on c.account_id = t.account_id and c.sequence = t.sequence
      where t.kind <> 'charge' and not credit_has_reason(t.account_id, t.sequence)`);
}
