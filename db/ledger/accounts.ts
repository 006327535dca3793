// Reading balances and transfers. Nothing here moves credits.
import {
  AccountEntity,
  LedgerTransferEntity,
  type Account,
  type LedgerTransfer,
} from '../entities/ledger.ts';
import type { Em } from '../database.ts';

/** More than a task can have. */
const TRANSFERS_OF_TASK_MAX = 1_000;

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

/** Transfers that a task caused with all of its attempts, oldest first. */
export async function listTransfersOfTask(
  em: Em,
  { userId, taskId }: { userId: string; taskId: string },
): Promise<LedgerTransfer[]> {
  const order = { orderBy: { sequence: 'asc' as const }, limit: TRANSFERS_OF_TASK_MAX };
  return em.find(LedgerTransferEntity, { accountId: userId, taskId }, order);
}
