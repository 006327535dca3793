// The invariants of money, as one check: every rule names what it found broken, and a healthy ledger answers nothing.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from './orm.ts';

export interface Violation {
  rule: string;
  subject: string;
}

/** Reads everything in one snapshot. Safe to run at any moment, under load too. */
export async function findViolations(em: Em): Promise<Violation[]> {
  return em.execute<Violation[]>(sql`
    select 'a transaction sums to zero' as rule, transaction_id as subject
      from ledger_entry group by transaction_id having sum(amount) <> 0
    union all
    select 'all entries sum to zero', 'ledger' from ledger_entry having coalesce(sum(amount), 0) <> 0
    union all
    select 'balance is the sum of the entries', a.user_id
      from account a left join ledger_entry e on e.account_id = a.user_id
      group by a.user_id having a.balance <> coalesce(sum(e.amount), 0)
    union all
    select 'reserved is the sum of open reservations', a.user_id
      from account a left join reservation r on r.user_id = a.user_id and r.state = 'open'
      group by a.user_id having a.reserved <> coalesce(sum(r.amount), 0)
    union all
    select 'nothing is negative', user_id from account where balance < 0 or reserved < 0 or balance - reserved < 0
    union all
    select 'granted less charged is the balance', user_id from account where total_granted - total_charged <> balance
    union all
    select 'the sequence has no gaps', a.user_id
      from account a left join ledger_entry e on e.account_id = a.user_id
      group by a.user_id
      having a.sequence <> count(e.id) or a.sequence <> coalesce(max(e.account_sequence), 0)
    union all
    select 'balanceAfter is a chain', account_id from (
      select account_id, balance_after - amount as before,
             lag(balance_after, 1, 0) over (partition by account_id order by account_sequence) as previous
      from ledger_entry where account_sequence is not null
    ) chain where before <> previous
    union all
    select 'a charged reservation has exactly one charge', r.id
      from reservation r left join ledger_transaction t on t.reservation_id = r.id and t.kind = 'charge'
      group by r.id having count(t.id) <> (r.state = 'charged' and r.charged > 0)::int
    union all
    select 'an open reservation belongs to an open task', r.id
      from reservation r join task t on t.id = r.task_id
      where r.state = 'open' and (t.status not in ('queued', 'in_progress') or t.attempt <> r.attempt)
    union all
    select 'an admitted open task has an open reservation', t.id
      from task t left join reservation r on r.task_id = t.id and r.attempt = t.attempt and r.state = 'open'
      where t.status in ('queued', 'in_progress') and t.admitted_at is not null and r.id is null
    union all
    select 'a completed task is charged once, the amount it shows', t.id
      from task t left join reservation r on r.task_id = t.id and r.state = 'charged'
      where t.status = 'completed'
      group by t.id having count(r.id) <> 1 or max(r.charged) <> t.credits_charged or max(r.attempt) <> t.attempt
    union all
    select 'a key has reserved what is open and used what was charged', k.id
      from api_key k left join reservation r on r.key_id = k.id
      group by k.id
      having k.reserved <> coalesce(sum(r.amount) filter (where r.state = 'open'), 0)
          or k.used <> coalesce(sum(r.charged - r.refunded), 0)
    union all
    select 'a redeem code was used as often as it was redeemed and granted', c.id
      from redeem_code c
      left join redemption d on d.code_id = c.id
      left join ledger_transaction t on t.id = d.transaction_id and t.kind = 'redeem'
      group by c.id having c.used_count <> count(d.id) or c.used_count <> count(t.id) or c.used_count > c.max_uses
    union all
    select 'a redemption stands behind every redeemed grant', t.id
      from ledger_transaction t left join redemption d on d.transaction_id = t.id
      where t.kind = 'redeem' and d.id is null
    union all
    select 'a task that did not complete is not charged', t.id
      from task t join reservation r on r.task_id = t.id and r.state = 'charged' where t.status <> 'completed'`);
}
