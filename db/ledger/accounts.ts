// Reading balances and transfers. Nothing here moves credits.
import {
  AccountEntity,
  LedgerTransferEntity,
  type Account,
  type LedgerTransfer,
} from '../entities/ledger.ts';
import type { Em } from '../database.ts';

export async function findAccount(em: Em, userId: string): Promise<Account> {
  return em.findOneOrFail(AccountEntity, { userId });
}

/** Transfers of an account, newest first, older than `beforeSequence` if given; at most `limit`. */
export async function listTransfers(
  em: Em,
  userId: string,
  page: { limit: number; beforeSequence: bigint | null },
): Promise<LedgerTransfer[]> {
  const before = page.beforeSequence === null ? {} : { sequence: { $lt: page.beforeSequence } };
  const where = { accountId: userId, ...before };
  return em.find(LedgerTransferEntity, where, { orderBy: { sequence: 'desc' }, limit: page.limit });
}
