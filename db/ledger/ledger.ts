// Credits that come to an account: grants and refunds. Every move is one conditional statement that happens
// once. The other moves: reservations of tasks in reservations.ts, chat calls in db/chat/chat-ledger.ts.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import type { LedgerKind } from '../entities/ledger.ts';
import { makeId } from '../ids.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';

export interface LedgerMove {
  entryId: string;
  balance: MicroCredits;
  available: MicroCredits;
}

/**
 * Adds credits. `idempotencyKey` makes it happen once: a repeat answers with the first move.
 * Throws when the user has no account.
 */
export async function grant(
  em: Em,
  input: {
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
      select ${makeId('txn')}, ${input.kind ?? 'grant'}, ${input.idempotencyKey}, ${input.requestId ?? null}, ${input.description}
      where exists (select 1 from account where user_id = ${input.userId})
      on conflict (idempotency_key) do nothing
      returning id
    ), credited as (
      update account a
      set balance = a.balance + ${input.amount}, total_granted = a.total_granted + ${input.amount},
          sequence = a.sequence + 1, updated_at = now()
      from txn where a.user_id = ${input.userId}
      returning a.user_id, a.balance, a.balance - a.reserved - a.earmarked as available, a.sequence
    )
    insert into ledger_entry (id, transaction_id, account_id, amount, account_sequence, balance_after)
    select v.id, txn.id, v.account_id, v.amount, v.sequence, v.balance_after
    from txn, credited c, lateral (values
      (${makeId('led')}, c.user_id, ${input.amount}::bigint, c.sequence, c.balance),
      (${makeId('led')}, 'operator:grants', -${input.amount}::bigint, null, null)
    ) v (id, account_id, amount, sequence, balance_after)
    returning id as "entryId", balance_after as balance, (select available from credited) as available`);
  return moved ? readMove(moved) : findMove(em, input.idempotencyKey);
}

/**
 * Gives back credits after a charge, at most what was charged. `idempotencyKey` makes it happen once.
 * Returns null when there is no such charge or less than `amount` is left of it.
 */
export async function refund(
  em: Em,
  input: TaskAttempt & { amount: MicroCredits; idempotencyKey: string; description: string },
): Promise<LedgerMove | null> {
  const [moved] = await em.execute<MovedRow[]>(sql`
    with refunded as (
      update reservation set refunded = refunded + ${input.amount}
      where task_id = ${input.taskId} and attempt = ${input.attempt} and state = 'charged'
        and refunded + ${input.amount} <= charged
        and not exists (select 1 from ledger_transaction where idempotency_key = ${input.idempotencyKey})
      returning id, user_id, key_id, task_id, day
    ), credited as (
      update account a
      set balance = a.balance + ${input.amount}, total_charged = a.total_charged - ${input.amount},
          sequence = a.sequence + 1, updated_at = now()
      from refunded r where a.user_id = r.user_id
      returning a.user_id, a.balance, a.balance - a.reserved - a.earmarked as available, a.sequence
    ), unspent as (
      update api_key k
      set used = k.used - ${input.amount},
          day_used = k.day_used - case when k.day = r.day then ${input.amount} else 0 end
      from refunded r join credited using (user_id) where k.id = r.key_id
    ), txn as (
      insert into ledger_transaction (id, kind, idempotency_key, reservation_id, task_id, key_id, model, description)
      select ${makeId('txn')}, 'refund', ${input.idempotencyKey}, r.id, r.task_id, r.key_id, t.model, ${input.description}
      from refunded r join task t on t.id = r.task_id
      returning id
    )
    insert into ledger_entry (id, transaction_id, account_id, amount, account_sequence, balance_after)
    select v.id, txn.id, v.account_id, v.amount, v.sequence, v.balance_after
    from txn, credited c, lateral (values
      (${makeId('led')}, c.user_id, ${input.amount}::bigint, c.sequence, c.balance),
      (${makeId('led')}, 'operator:revenue', -${input.amount}::bigint, null, null)
    ) v (id, account_id, amount, sequence, balance_after)
    returning id as "entryId", balance_after as balance, (select available from credited) as available`);
  return moved ? readMove(moved) : findMove(em, input.idempotencyKey).catch(() => null);
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
    select e.id as "entryId", e.balance_after as balance, a.balance - a.reserved - a.earmarked as available
    from ledger_transaction t
    join ledger_entry e on e.transaction_id = t.id
    join account a on a.user_id = e.account_id
    where t.idempotency_key = ${idempotencyKey}`);
  if (!found) throw new Error('no such ledger move, and no account to make it on');
  return readMove(found);
}
