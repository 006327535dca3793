// Changes accounts in ways that no caller can.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { parseCredits } from '../../domain/credits.ts';
import type { Em } from '../../db/database.ts';

/** Takes credits away by a balanced adjustment, so that accepted tasks may not be covered any more. */
export async function shrinkAccount(em: Em, userId: string, credits: number): Promise<void> {
  const amount = parseCredits(credits);
  const id = randomBytes(6).toString('hex');
  await em.execute(sql`
    with txn as (
      insert into ledger_transaction (id, kind, idempotency_key, description)
      values (${`txn_${id}`}, 'adjustment', ${`shrink:${id}`}, 'Test') returning id
    ), debited as (
      update account set balance = balance - ${amount}, total_granted = total_granted - ${amount}, sequence = sequence + 1
      where user_id = ${userId} returning user_id, balance, sequence
    )
    insert into ledger_entry (id, transaction_id, account_id, amount, account_sequence, balance_after)
    select ${`led_u${id}`}, txn.id, d.user_id, -${amount}::bigint, d.sequence, d.balance from txn, debited d
    union all
    select ${`led_o${id}`}, txn.id, 'operator:grants', ${amount}::bigint, null, null from txn`);
}
