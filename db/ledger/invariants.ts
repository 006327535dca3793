// The invariants of money, as one check: every rule lists what violates it.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';

export interface Violation {
  rule: string;
  subject: string;
  /** The user whose account is concerned; null where it is not one user's. */
  userId: string | null;
}

/** Runs as one statement on one snapshot: what it finds is no passing state. Safe under load too. */
// oxlint-disable-next-line eslint/max-lines-per-function -- one SQL statement
export async function findViolations(em: Em): Promise<Violation[]> {
  return em.execute<Violation[]>(sql`
    select 'a transaction sums to zero' as rule, transaction_id as subject,
           min(account_id) filter (where account_sequence is not null) as "userId"
      from ledger_entry group by transaction_id having sum(amount) <> 0
    union all
    select 'all entries sum to zero', 'ledger', null from ledger_entry having coalesce(sum(amount), 0) <> 0
    union all
    select 'balance is the sum of the entries', a.user_id, a.user_id
      from account a left join ledger_entry e on e.account_id = a.user_id
      group by a.user_id having a.balance <> coalesce(sum(e.amount), 0)
    union all
    select 'reserved is the sum of open reservations', a.user_id, a.user_id
      from account a left join reservation r on r.user_id = a.user_id and r.state = 'open'
      group by a.user_id having a.reserved <> coalesce(sum(r.amount), 0)
    union all
    select 'nothing is negative', user_id, user_id from account where balance < 0 or reserved < 0 or earmarked < 0 or balance - reserved - earmarked < 0
    union all
    select 'earmarked is the sum of the estimates of queued tasks without a reservation', a.user_id, a.user_id
      from account a left join task t on t.user_id = a.user_id and t.status = 'queued' and t.admitted_at is null
      group by a.user_id having a.earmarked <> coalesce(sum(t.credits_estimate), 0)
    union all
    select 'queued and running count the open tasks', a.user_id, a.user_id
      from account a left join task t on t.user_id = a.user_id and t.status in ('queued', 'in_progress')
      group by a.user_id
      having a.queued <> count(t.id) filter (where t.status = 'queued')
          or a.running <> count(t.id) filter (where t.status = 'in_progress')
    union all
    select 'a key has earmarked what its queued tasks wait with', k.id, k.user_id
      from api_key k left join task t on t.key_id = k.id and t.status = 'queued' and t.admitted_at is null
      group by k.id having k.earmarked <> coalesce(sum(t.credits_estimate), 0)
    union all
    select 'granted less charged is the balance', user_id, user_id
      from account where total_granted - total_charged <> balance
    union all
    select 'the sequence has no gaps', a.user_id, a.user_id
      from account a left join ledger_entry e on e.account_id = a.user_id
      group by a.user_id
      having a.sequence <> count(e.id) or a.sequence <> coalesce(max(e.account_sequence), 0)
    union all
    select 'balanceAfter is a chain', account_id, account_id from (
      select account_id, balance_after - amount as before,
             lag(balance_after, 1, 0) over (partition by account_id order by account_sequence) as previous
      from ledger_entry where account_sequence is not null
    ) chain where before <> previous
    union all
    select 'a charged reservation has exactly one charge', r.id, r.user_id
      from reservation r left join ledger_transaction t on t.reservation_id = r.id and t.kind = 'charge'
      group by r.id having count(t.id) <> (r.state = 'charged' and r.charged > 0)::int
    union all
    select 'an open reservation belongs to an open task', r.id, r.user_id
      from reservation r join task t on t.id = r.task_id
      where r.state = 'open' and (t.status not in ('queued', 'in_progress') or t.attempt <> r.attempt)
    union all
    select 'an admitted open task has an open reservation', t.id, t.user_id
      from task t left join reservation r on r.task_id = t.id and r.attempt = t.attempt and r.state = 'open'
      where t.status in ('queued', 'in_progress') and t.admitted_at is not null and r.id is null
    union all
    select 'a completed task is charged once, the amount it shows', t.id, t.user_id
      from task t left join reservation r on r.task_id = t.id and r.state = 'charged'
      where t.status = 'completed'
      group by t.id having count(r.id) <> 1 or max(r.charged) <> t.credits_charged or max(r.attempt) <> t.attempt
    union all
    select 'a key has reserved what is open and used what was charged', k.id, k.user_id
      from api_key k left join reservation r on r.key_id = k.id
      group by k.id
      having k.reserved <> coalesce(sum(r.amount) filter (where r.state = 'open'), 0)
          or k.used <> coalesce(sum(r.charged - r.refunded), 0)
    union all
    -- a day's figures limit a key and are no balance, so that this is no reason to freeze the account
    select 'a key’s day has reserved and used what was taken on that day', k.id, null
      from api_key k left join reservation r on r.key_id = k.id and r.day = k.day
      group by k.id
      having k.day_reserved <> coalesce(sum(r.amount) filter (where r.state = 'open'), 0)
          or k.day_used <> coalesce(sum(r.charged - r.refunded), 0)
    union all
    select 'a redeem code was used as often as it was redeemed and granted', c.id, null
      from redeem_code c
      left join redemption d on d.code_id = c.id
      left join ledger_transaction t on t.id = d.transaction_id and t.kind = 'redeem'
      group by c.id having c.used_count <> count(d.id) or c.used_count <> count(t.id) or c.used_count > c.max_uses
    union all
    select 'a redemption stands behind every redeemed grant', t.id, e.account_id
      from ledger_transaction t left join redemption d on d.transaction_id = t.id
      left join ledger_entry e on e.transaction_id = t.id and e.account_sequence is not null
      where t.kind = 'redeem' and d.id is null
    union all
    select 'a settled call has one record, and it shows the charge', r.id, r.user_id
      from reservation r left join chat_call c on c.reservation_id = r.id
      where r.task_id is null
      group by r.id
      having count(c.id) <> (r.state <> 'open')::int or coalesce(max(c.credits_charged), 0) <> coalesce(r.charged, 0)
    union all
    select 'a task that did not complete is not charged', t.id, t.user_id
      from task t join reservation r on r.task_id = t.id and r.state = 'charged' where t.status <> 'completed'`);
}
