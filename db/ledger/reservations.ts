// Reservations of task attempts: set aside, charged, released, each once and by one conditional statement.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import { makeId } from '../ids.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';

/** Why credits could not be set aside. */
export type ReserveRefusal =
  | 'insufficient_credits'
  | 'account_disabled'
  | 'invalid_api_key'
  | 'expired_api_key';

export type ReserveVerdict =
  | { kind: 'reserved'; amount: MicroCredits }
  | { kind: 'refused'; reason: ReserveRefusal }
  /** The task was cancelled, or belongs to a later attempt: there is nothing to do. */
  | { kind: 'not_claimable' };

/**
 * Turns the earmark of a queued task into the reservation of its attempt, if the user and the key may still
 * spend: the key's revocation, expiry, scope, quota and daily budget (UTC) are conditions of the same
 * statement, judged on rows that are locked first (task, account, key, in this order everywhere), so that
 * parallel calls cannot overshoot. Safe to repeat: a second call for the same attempt answers what the first
 * one did.
 */
export async function reserve(em: Em, task: TaskAttempt): Promise<ReserveVerdict> {
  const [verdict] = await em.execute<{ word: ReserveRefusal | 'reserved'; amount: string }[]>(sql`
    with wanted as (
      select id, attempt, user_id, key_id, model, credits_estimate as amount, (now() at time zone 'utc')::date as today
      from task
      where id = ${task.taskId} and attempt = ${task.attempt} and status = 'queued' and admitted_at is null
      for update
    ), holder as (
      select a.user_id, a.balance, a.reserved, a.earmarked, a.frozen_at, u.disabled_at
      from account a join app_user u on u.id = a.user_id
      where a.user_id = (select user_id from wanted)
      for update of a for share of u -- disabling the user waits for this, or has happened
    ), spender as (
      select k.* from api_key k
      where k.id = (select key_id from wanted) and exists (select 1 from holder)
      for update
    ), today as ( -- the key's day may be later than the start of this statement, which had to wait for the key's lock
      select w.id, greatest(w.today, s.day) as day, s.day >= w.today as is_counted
      from wanted w left join spender s on true
    ), verdict as (
      select w.*, d.day, d.is_counted, case
        when h.disabled_at is not null or h.frozen_at is not null then 'account_disabled'
        when s.revoked_at is not null then 'invalid_api_key'
        when s.expires_at <= now() then 'expired_api_key'
        when not w.model = any(s.model_scope) then 'model_not_allowed'
        when s.used + s.reserved + w.amount > s.quota then 'key_quota_exceeded'
        when w.amount + case when d.is_counted then s.day_used + s.day_reserved else 0 end > s.daily_budget
          then 'daily_budget_exceeded'
        when h.balance - h.reserved - (h.earmarked - w.amount) < w.amount then 'insufficient_credits'
        else 'reserved' end as word
      from wanted w join today d using (id) cross join holder h left join spender s on true
    ), funded as ( -- from the locked row: PostgreSQL checks constraints on the row as this statement first saw it
      update account a
      set balance = h.balance, reserved = h.reserved + v.amount, earmarked = h.earmarked - v.amount, updated_at = now()
      from verdict v join holder h using (user_id) where v.word = 'reserved' and a.user_id = v.user_id
    ), limited as (
      update api_key k
      set reserved = k.reserved + v.amount, earmarked = k.earmarked - v.amount, day = v.day,
          day_used = case when v.is_counted then k.day_used else 0 end,
          day_reserved = v.amount + case when v.is_counted then k.day_reserved else 0 end
      from verdict v where v.word = 'reserved' and k.id = v.key_id
    ), reserved as (
      insert into reservation (id, user_id, key_id, task_id, attempt, amount, day)
      select ${makeId('res')}, user_id, key_id, id, attempt, amount, day from verdict where word = 'reserved'
    ), admitted as (
      update task t set admitted_at = now(), updated_at = now() from verdict v where v.word = 'reserved' and t.id = v.id
    ), logged as (
      insert into task_event (task_id, attempt, event) select id, attempt, 'reserved' from verdict where word = 'reserved'
    )
    select word, amount from verdict`);
  if (!verdict) return findReservation(em, task);
  if (verdict.word === 'reserved') return { kind: 'reserved', amount: readMicroCredits(verdict.amount) };
  return { kind: 'refused', reason: verdict.word };
}

/**
 * Turns the reservation of an attempt into a charge; what is not charged returns to the balance.
 * Call it in the transaction that completes the task. Returns false when it was settled before.
 */
export async function charge(
  em: Em,
  settlement: TaskAttempt & { amount: MicroCredits; loss: MicroCredits },
): Promise<boolean> {
  const [settled] = await em.execute<{ userId: string }[]>(sql`
    with settled as (
      update reservation
      set state = 'charged', charged = ${settlement.amount}, loss = ${settlement.loss}, settled_at = now()
      where task_id = ${settlement.taskId} and attempt = ${settlement.attempt} and state = 'open'
      returning id, user_id, key_id, task_id, attempt, amount, charged, day
    ), debited as (
      update account a
      set reserved = a.reserved - s.amount, balance = a.balance - s.charged,
          total_charged = a.total_charged + s.charged, sequence = a.sequence + (s.charged > 0)::int, updated_at = now()
      from settled s where a.user_id = s.user_id
      returning a.user_id, a.balance, a.sequence
    ), spent as (
      update api_key k
      set reserved = k.reserved - s.amount, used = k.used + s.charged,
          day_reserved = k.day_reserved - case when k.day = s.day then s.amount else 0 end,
          day_used = k.day_used + case when k.day = s.day then s.charged else 0 end
      from settled s join debited using (user_id) where k.id = s.key_id
    ), txn as (
      insert into ledger_transaction (id, kind, idempotency_key, reservation_id, task_id, key_id, model, description)
      select ${makeId('txn')}, 'charge', 'charge:' || s.task_id || ':' || s.attempt, s.id, s.task_id, s.key_id, t.model,
             t.mode || ' task'
      from settled s join task t on t.id = s.task_id where s.charged > 0
      returning id
    ), entries as (
      insert into ledger_entry (id, transaction_id, account_id, amount, account_sequence, balance_after)
      select v.id, txn.id, v.account_id, v.amount, v.sequence, v.balance_after
      from txn, settled s, debited d, lateral (values
        (${makeId('led')}, d.user_id, -s.charged, d.sequence, d.balance),
        (${makeId('led')}, 'operator:revenue', s.charged, null, null)
      ) v (id, account_id, amount, sequence, balance_after)
    )
    select user_id as "userId" from settled`);
  return settled !== undefined;
}

/**
 * Returns the reservation of an attempt to the balance. `loss`: what the vendor bills all the same; the
 * operator bears it. Returns false when there was none, or it was settled before.
 */
export async function release(em: Em, task: TaskAttempt, loss: MicroCredits = 0n): Promise<boolean> {
  const [released] = await em.execute<{ userId: string }[]>(sql`
    with released as (
      update reservation set state = 'released', loss = ${loss}, settled_at = now()
      where task_id = ${task.taskId} and attempt = ${task.attempt} and state = 'open'
      returning user_id, key_id, amount, day
    ), returned as (
      update account a set reserved = a.reserved - r.amount, updated_at = now()
      from released r where a.user_id = r.user_id
      returning a.user_id
    ), unspent as (
      update api_key k
      set reserved = k.reserved - r.amount,
          day_reserved = k.day_reserved - case when k.day = r.day then r.amount else 0 end
      from released r join returned using (user_id) where k.id = r.key_id
    )
    select user_id as "userId" from returned`);
  return released !== undefined;
}

/** For an attempt that is not queued: its reservation was made before, or the task has ended. */
async function findReservation(em: Em, task: TaskAttempt): Promise<ReserveVerdict> {
  const [found] = await em.execute<{ amount: string }[]>(sql`
    select r.amount from reservation r join task t on t.id = r.task_id and t.attempt = r.attempt
    where r.task_id = ${task.taskId} and r.attempt = ${task.attempt} and r.state = 'open'`);
  return found ? { kind: 'reserved', amount: readMicroCredits(found.amount) } : { kind: 'not_claimable' };
}
