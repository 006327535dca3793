// Reading balances and ledger entries. Nothing here moves credits.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import { AccountEntity, type Account, type LedgerKind } from '../entities/ledger.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';

export interface LedgerLine {
  id: string;
  sequence: bigint;
  type: LedgerKind;
  amount: MicroCredits;
  balanceAfter: MicroCredits;
  taskId: string | null;
  requestId: string | null;
  keyId: string | null;
  model: string | null;
  description: string;
  createdAt: Date;
}

export async function findAccount(em: Em, userId: string): Promise<Account> {
  return em.findOneOrFail(AccountEntity, { userId });
}

/** Entries of an account, newest first, older than `beforeSequence` if given; at most `limit`. */
export async function listLedger(
  em: Em,
  userId: string,
  page: { limit: number; beforeSequence: bigint | null },
): Promise<LedgerLine[]> {
  const rows = await em.execute<LedgerRow[]>(sql`
    select e.id, e.account_sequence as sequence, t.kind as type, e.amount, e.balance_after as "balanceAfter",
           t.task_id as "taskId", t.request_id as "requestId", t.key_id as "keyId", t.model, t.description,
           t.created_at as "createdAt"
    from ledger_entry e join ledger_transaction t on t.id = e.transaction_id
    where e.account_id = ${userId} and e.account_sequence < coalesce(${page.beforeSequence}::bigint, 9223372036854775807)
    order by e.account_sequence desc
    limit ${page.limit}`);
  return rows.map((row) => ({
    ...row,
    sequence: BigInt(row.sequence),
    amount: readMicroCredits(row.amount),
    balanceAfter: readMicroCredits(row.balanceAfter),
    createdAt: new Date(row.createdAt),
  }));
}

type LedgerRow = Omit<LedgerLine, 'sequence' | 'amount' | 'balanceAfter' | 'createdAt'> & {
  sequence: string;
  amount: string;
  balanceAfter: string;
  createdAt: string;
};
