// The invariants of money, as one check: every rule lists what violates it.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';

export interface Violation {
  rule: string;
  subject: string;
  /** The user whose account is concerned; null where it is not one user's. */
  userId: string | null;
}

/**
 * Runs as one statement on one snapshot: what it finds is no passing state. Safe under load too. That all
 * sides of the ledger sum to zero needs no rule: a transfer is one row with one amount.
 */
// oxlint-disable-next-line eslint/max-lines-per-function -- one SQL statement
export async function findViolations(em: Em): Promise<Violation[]> {
  return em.execute<Violation[]>(sql`
    with held as (
      select 'task ' || task_id || ' attempt ' || attempt as subject, user_id, key_id, day, amount, loss,
             state = 'open' as is_open, coalesce(charged, 0) as charged, refunded from task_attempt
      union all
      select id, user_id, key_id, day, credits_reserved, loss, status = 'open', credits_charged, 0 from chat_call
    ), of_account as (
      select user_id, sum(amount) filter (where is_open) as reserved, sum(charged - refunded) as charged,
             sum(loss) as loss
      from held group by user_id
    ), moved as (
      select account_id, sum(amount) as amount, count(*) as transfers, max(sequence) as last,
             sum(amount) filter (where kind in ('grant', 'redeem', 'adjustment')) as granted,
             -sum(amount) filter (where kind in ('charge', 'refund')) as charged
      from ledger_transfer group by account_id
    ), waiting as (
      select user_id, count(*) filter (where status = 'queued') as queued,
             count(*) filter (where status = 'in_progress') as running,
             sum(credits_estimate) filter (where status = 'queued' and admitted_at is null) as earmarked
      from task where status in ('queued', 'in_progress') group by user_id
    ), spent as (
      select s.key_id, k.user_id, s.reserved, s.used, s.day_reserved, s.day_used, s.earmarked,
             coalesce(sum(h.amount) filter (where h.is_open), 0) as open,
             coalesce(sum(h.charged - h.refunded), 0) as charged,
             coalesce(sum(h.amount) filter (where h.is_open and h.day = s.day), 0) as day_open,
             coalesce(sum(h.charged - h.refunded) filter (where h.day = s.day), 0) as day_charged
      from key_spending s join api_key k on k.id = s.key_id left join held h on h.key_id = s.key_id
      group by s.key_id, k.user_id
    )
    select 'balance is the sum of the transfers' as rule, a.user_id as subject, a.user_id as "userId"
      from account a left join moved m on m.account_id = a.user_id where a.balance <> coalesce(m.amount, 0)
    union all
    select 'granted and charged are the sums of their transfers', a.user_id, a.user_id
      from account a left join moved m on m.account_id = a.user_id
      where a.total_granted <> coalesce(m.granted, 0) or a.total_charged <> coalesce(m.charged, 0)
    union all
    select 'granted less charged is the balance', user_id, user_id
      from account where total_granted - total_charged <> balance
    union all
    select 'reserved is the sum of open reservations', a.user_id, a.user_id
      from account a left join of_account h using (user_id) where a.reserved <> coalesce(h.reserved, 0)
    union all
    select 'charged and lost are what attempts and calls show', a.user_id, a.user_id
      from account a left join of_account h using (user_id)
      where a.total_charged <> coalesce(h.charged, 0) or a.total_loss <> coalesce(h.loss, 0)
    union all
    select 'nothing is negative', user_id, user_id from account
      where balance < 0 or reserved < 0 or earmarked < 0 or balance - reserved - earmarked < 0
    union all
    select 'earmarked is the sum of the estimates of queued tasks without a reservation', a.user_id, a.user_id
      from account a left join waiting w using (user_id) where a.earmarked <> coalesce(w.earmarked, 0)
    union all
    select 'queued and running count the open tasks', a.user_id, a.user_id
      from account a left join waiting w using (user_id)
      where a.queued <> coalesce(w.queued, 0) or a.running <> coalesce(w.running, 0)
    union all
    select 'an account is disabled when its user is', a.user_id, a.user_id
      from account a join app_user u on u.id = a.user_id where a.disabled_at is distinct from u.disabled_at
    union all
    select 'every reservation, task and transfer has its account', id, null
      from (select user_id, subject as id from held union all select user_id, id from task
            union all select account_id, id from ledger_transfer) r
      where not exists (select from account a where a.user_id = r.user_id)
    union all
    select 'the sequence has no gaps', a.user_id, a.user_id
      from account a left join moved m on m.account_id = a.user_id
      where a.sequence <> coalesce(m.transfers, 0) or a.sequence <> coalesce(m.last, 0)
    union all
    select 'balanceAfter is a chain', account_id, account_id from (
      select account_id, balance_after - amount as before,
             lag(balance_after, 1, 0) over (partition by account_id order by sequence) as previous
      from ledger_transfer
    ) chain where before <> previous
    union all
    select 'an attempt is charged and refunded by the transfers that name it', coalesce(r.task_id, t.task_id),
           coalesce(r.user_id, t.account_id)
      from task_attempt r full join (
        select task_id, attempt, account_id, coalesce(-sum(amount) filter (where kind = 'charge'), 0) as charged,
               count(*) filter (where kind = 'charge') as charges,
               coalesce(sum(amount) filter (where kind = 'refund'), 0) as refunded
        from ledger_transfer where task_id is not null group by task_id, attempt, account_id
      ) t on t.task_id = r.task_id and t.attempt = r.attempt and t.account_id = r.user_id
      where coalesce(r.charged, 0) <> coalesce(t.charged, 0) or coalesce(t.charges, 0) > 1
         or coalesce(r.refunded, 0) <> coalesce(t.refunded, 0)
    union all
    select 'a call is charged by the transfers that name it', coalesce(c.id, t.call_id),
           coalesce(c.user_id, t.account_id)
      from chat_call c full join (
        select call_id, account_id, -sum(amount) as charged,
               count(*) filter (where idempotency_key is null) as charges
        from ledger_transfer where call_id is not null group by call_id, account_id
      ) t on t.call_id = c.id and t.account_id = c.user_id
      where coalesce(c.credits_charged, 0) <> coalesce(t.charged, 0) or coalesce(t.charges, 0) > 1
    union all
    select 'a charge or refund names what it is for, and nothing else does', id, account_id
      from ledger_transfer
      where (kind in ('charge', 'refund')) <> (task_id is not null or call_id is not null)
         or (task_id is not null and call_id is not null)
    union all
    select 'an open reservation belongs to an open task', r.task_id, r.user_id
      from task_attempt r left join task t on t.id = r.task_id
      where r.state = 'open' and (t.id is null or t.status not in ('queued', 'in_progress') or t.attempt <> r.attempt)
    union all
    select 'an admitted open task has an open reservation', t.id, t.user_id
      from task t left join task_attempt r on r.task_id = t.id and r.attempt = t.attempt and r.state = 'open'
      where t.status in ('queued', 'in_progress') and t.admitted_at is not null and r.task_id is null
    union all
    select 'a completed task is charged once, the amount it shows', t.id, t.user_id
      from task t left join task_attempt r on r.task_id = t.id and r.state = 'charged'
      where t.status = 'completed'
      group by t.id having count(r.task_id) <> 1 or max(r.charged) <> t.credits_charged or max(r.attempt) <> t.attempt
    union all
    select 'a task that did not complete is not charged', t.id, t.user_id
      from task t join task_attempt r on r.task_id = t.id and r.state = 'charged' where t.status <> 'completed'
    union all
    select 'a key has earmarked what its queued tasks wait with', s.key_id, s.user_id
      from spent s left join task t on t.key_id = s.key_id and t.status = 'queued' and t.admitted_at is null
      group by s.key_id, s.user_id, s.earmarked having s.earmarked <> coalesce(sum(t.credits_estimate), 0)
    union all
    select 'a key has reserved what is open and used what was charged', key_id, user_id
      from spent where reserved <> open or used <> charged
    union all
    -- a day's figures limit a key and are no balance, so that this is no reason to freeze the account
    select 'a key’s day has reserved and used what was taken on that day', key_id, null
      from spent where day_reserved <> day_open or day_used <> day_charged
    union all
    select 'every key has its spending', k.id, k.user_id
      from api_key k left join key_spending s on s.key_id = k.id where s.key_id is null
    union all
    select 'a redeem code was used as often as it was redeemed and granted', c.id, null
      from redeem_code c
      left join redemption d on d.code_id = c.id
      left join ledger_transfer t on t.account_id = d.user_id and t.sequence = d.transfer_sequence
        and t.kind = 'redeem' and t.amount = d.credits
      group by c.id having c.used_count <> count(d.id) or c.used_count <> count(t.id) or c.used_count > c.max_uses
    union all
    select 'a redemption stands behind every redeemed grant', t.id, t.account_id
      from ledger_transfer t left join redemption d on d.user_id = t.account_id and d.transfer_sequence = t.sequence
      where t.kind = 'redeem' and d.id is null`);
}
