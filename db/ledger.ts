// The ledger: the only code that moves credits. Every move is one conditional statement that happens once.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../domain/credits.ts';
import type { TaskAttempt } from '../domain/tasks.ts';
import type { LedgerKind } from './entities/ledger.ts';
import { makeId } from './ids.ts';
import type { Em } from './orm.ts';
import { readMicroCredits } from './stored.ts';

export interface LedgerMove {
  entryId: string;
  balance: MicroCredits;
  available: MicroCredits;
}

/** Why credits could not be set aside. */
export type ReserveRefusal =
  'insufficient_credits' | 'account_disabled' | 'invalid_api_key' | 'expired_api_key';

export type ReserveVerdict =
  | { kind: 'reserved'; amount: MicroCredits }
  | { kind: 'refused'; reason: ReserveRefusal }
  /** The task was cancelled, or belongs to a later attempt: there is nothing to do. */
  | { kind: 'not_claimable' };

/**
 * Adds credits. `idempotencyKey` makes it happen once: a repeat answers the first move.
 * Throws when the user has no account.
 */
export async function grant(
  em: Em,
  wish: {
    userId: string;
    amount: MicroCredits;
    idempotencyKey: string;
    description: string;
    kind?: LedgerKind;
    requestId?: string | null;
  },
): Promise<LedgerMove> {
  const [moved] = await em.execute<MovedRow[]>(sql`
    with txn as (
      insert into ledger_transaction (id, kind, idempotency_key, request_id, description)
      select ${makeId('txn')}, ${wish.kind ?? 'grant'}, ${wish.idempotencyKey}, ${wish.requestId ?? null}, ${wish.description}
      where exists (select 1 from account where user_id = ${wish.userId})
      on conflict (idempotency_key) do nothing
      returning id
    ), credited as (
      update account a
      set balance = a.balance + ${wish.amount}, total_granted = a.total_granted + ${wish.amount},
          sequence = a.sequence + 1, updated_at = now()
      from txn where a.user_id = ${wish.userId}
      returning a.user_id, a.balance, a.balance - a.reserved as available, a.sequence
    )
    insert into ledger_entry (id, transaction_id, account_id, amount, account_sequence, balance_after)
    select v.id, txn.id, v.account_id, v.amount, v.sequence, v.balance_after
    from txn, credited c, lateral (values
      (${makeId('led')}, c.user_id, ${wish.amount}::bigint, c.sequence, c.balance),
      (${makeId('led')}, 'operator:grants', -${wish.amount}::bigint, null, null)
    ) v (id, account_id, amount, sequence, balance_after)
    returning id as "entryId", balance_after as balance, (select available from credited) as available`);
  return moved ? readMove(moved) : findMove(em, wish.idempotencyKey);
}

/**
 * Sets the estimate of a queued task aside, if the balance covers it and the user and the key may still spend.
 * Safe to repeat: a second call for the same attempt answers what the first one did.
 */
export async function reserve(em: Em, task: TaskAttempt): Promise<ReserveVerdict> {
  const [reserved] = await em.execute<{ amount: string }[]>(sql`
    with wanted as (
      select id, attempt, user_id, key_id, credits_estimate from task
      where id = ${task.taskId} and attempt = ${task.attempt} and status = 'queued' and admitted_at is null
      for update
    ), funded as (
      update account a set reserved = a.reserved + w.credits_estimate, updated_at = now()
      from wanted w
      where a.user_id = w.user_id and a.frozen_at is null and a.balance - a.reserved >= w.credits_estimate
        and exists (select 1 from app_user u where u.id = w.user_id and u.disabled_at is null)
        and (w.key_id is null or exists (
          select 1 from api_key k
          where k.id = w.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())))
      returning a.user_id
    ), reserved as (
      insert into reservation (id, user_id, key_id, task_id, attempt, amount)
      select ${makeId('res')}, w.user_id, w.key_id, w.id, w.attempt, w.credits_estimate
      from wanted w join funded using (user_id)
      returning task_id, attempt, amount
    ), admitted as (
      update task t set admitted_at = now(), updated_at = now() from reserved r where t.id = r.task_id
    ), logged as (
      insert into task_event (task_id, attempt, event) select task_id, attempt, 'reserved' from reserved
    )
    select amount from reserved`);
  if (reserved) return { kind: 'reserved', amount: readMicroCredits(reserved.amount) };
  return explainUnreserved(em, task);
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
      returning id, user_id, key_id, task_id, attempt, amount, charged
    ), debited as (
      update account a
      set reserved = a.reserved - s.amount, balance = a.balance - s.charged,
          total_charged = a.total_charged + s.charged, sequence = a.sequence + (s.charged > 0)::int, updated_at = now()
      from settled s where a.user_id = s.user_id
      returning a.user_id, a.balance, a.sequence
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

/** Gives the reservation of an attempt back. Returns false when there was none, or it was settled before. */
export async function release(em: Em, task: TaskAttempt): Promise<boolean> {
  const [released] = await em.execute<{ userId: string }[]>(sql`
    with released as (
      update reservation set state = 'released', settled_at = now()
      where task_id = ${task.taskId} and attempt = ${task.attempt} and state = 'open'
      returning user_id, amount
    )
    update account a set reserved = a.reserved - r.amount, updated_at = now()
    from released r where a.user_id = r.user_id
    returning a.user_id as "userId"`);
  return released !== undefined;
}

/**
 * Gives back credits after a charge, at most what was charged. `idempotencyKey` makes it happen once.
 * Returns null when there is no such charge or less than `amount` is left of it.
 */
export async function refund(
  em: Em,
  wish: TaskAttempt & { amount: MicroCredits; idempotencyKey: string; description: string },
): Promise<LedgerMove | null> {
  const [moved] = await em.execute<MovedRow[]>(sql`
    with refunded as (
      update reservation set refunded = refunded + ${wish.amount}
      where task_id = ${wish.taskId} and attempt = ${wish.attempt} and state = 'charged'
        and refunded + ${wish.amount} <= charged
        and not exists (select 1 from ledger_transaction where idempotency_key = ${wish.idempotencyKey})
      returning id, user_id, key_id, task_id
    ), credited as (
      update account a
      set balance = a.balance + ${wish.amount}, total_charged = a.total_charged - ${wish.amount},
          sequence = a.sequence + 1, updated_at = now()
      from refunded r where a.user_id = r.user_id
      returning a.user_id, a.balance, a.balance - a.reserved as available, a.sequence
    ), txn as (
      insert into ledger_transaction (id, kind, idempotency_key, reservation_id, task_id, key_id, model, description)
      select ${makeId('txn')}, 'refund', ${wish.idempotencyKey}, r.id, r.task_id, r.key_id, t.model, ${wish.description}
      from refunded r join task t on t.id = r.task_id
      returning id
    )
    insert into ledger_entry (id, transaction_id, account_id, amount, account_sequence, balance_after)
    select v.id, txn.id, v.account_id, v.amount, v.sequence, v.balance_after
    from txn, credited c, lateral (values
      (${makeId('led')}, c.user_id, ${wish.amount}::bigint, c.sequence, c.balance),
      (${makeId('led')}, 'operator:revenue', -${wish.amount}::bigint, null, null)
    ) v (id, account_id, amount, sequence, balance_after)
    returning id as "entryId", balance_after as balance, (select available from credited) as available`);
  return moved ? readMove(moved) : findMove(em, wish.idempotencyKey).catch(() => null);
}

interface MovedRow {
  entryId: string;
  balance: string;
  available: string;
}

function readMove(row: MovedRow): LedgerMove {
  const { entryId, balance, available } = row;
  return { entryId, balance: readMicroCredits(balance), available: readMicroCredits(available) };
}

async function findMove(em: Em, idempotencyKey: string): Promise<LedgerMove> {
  const [found] = await em.execute<MovedRow[]>(sql`
    select e.id as "entryId", e.balance_after as balance, a.balance - a.reserved as available
    from ledger_transaction t
    join ledger_entry e on e.transaction_id = t.id
    join account a on a.user_id = e.account_id
    where t.idempotency_key = ${idempotencyKey}`);
  if (!found) throw new Error('no such ledger move, and no account to make it on');
  return readMove(found);
}

/** Runs after a reservation that did not happen: was it there before, is there nothing to reserve for, or what forbids it? */
async function explainUnreserved(em: Em, task: TaskAttempt): Promise<ReserveVerdict> {
  const [found] = await em.execute<UnreservedRow[]>(sql`
    select t.status, t.attempt, r.amount, r.state,
           u.disabled_at is not null or a.frozen_at is not null as disabled,
           k.revoked_at is not null as revoked, coalesce(k.expires_at <= now(), false) as expired
    from task t
    join app_user u on u.id = t.user_id
    join account a on a.user_id = t.user_id
    left join api_key k on k.id = t.key_id
    left join reservation r on r.task_id = t.id and r.attempt = ${task.attempt}
    where t.id = ${task.taskId}`);
  if (!found || found.attempt !== task.attempt) return { kind: 'not_claimable' };
  if (found.state === 'open' && found.amount !== null)
    return { kind: 'reserved', amount: readMicroCredits(found.amount) };
  if (found.status !== 'queued') return { kind: 'not_claimable' };
  if (found.disabled) return { kind: 'refused', reason: 'account_disabled' };
  if (found.revoked) return { kind: 'refused', reason: 'invalid_api_key' };
  if (found.expired) return { kind: 'refused', reason: 'expired_api_key' };
  return { kind: 'refused', reason: 'insufficient_credits' };
}

interface UnreservedRow {
  status: string;
  attempt: number;
  amount: string | null;
  state: string | null;
  disabled: boolean;
  revoked: boolean;
  expired: boolean;
}
