// Credits that come to an account: grants and refunds. Each is one transfer, which happens once per key.
import type { MicroCredits } from '../../domain/credits.ts';
import type { TaskAttempt } from '../../domain/tasks.ts';
import { makeId } from '../ids.ts';
import { readMicroCredits } from '../columns.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';

export interface LedgerMove {
  transferId: string;
  /** The number of the transfer among those of its account. */
  sequence: bigint;
  balance: MicroCredits;
  available: MicroCredits;
}

export interface Refund extends LedgerMove {
  /** False: it is a repeat, and the transfer is the first one's. */
  isFirst: boolean;
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
    kind?: 'grant' | 'redeem';
    requestId?: string | null;
  },
): Promise<LedgerMove> {
  const { userId, amount, kind = 'grant', idempotencyKey, description, requestId = null } = input;
  const values = [userId, amount, kind, idempotencyKey, description, requestId, makeId('led')];
  const [moved] = await creditAccount(em, values);
  if (!moved) throw new Error(`the user ${userId} has no account`);
  return readMove(moved);
}

/**
 * Gives back credits after a charge, at most what was charged. `idempotencyKey` makes it happen once.
 * Returns null when there is no such charge or less than `amount` is left of it.
 */
export async function refund(
  em: Em,
  input: TaskAttempt & { amount: MicroCredits; idempotencyKey: string; description: string },
): Promise<Refund | null> {
  const { taskId, attempt, amount, idempotencyKey, description } = input;
  const transferId = makeId('led');
  const [moved] = await refundAttempt(em, [taskId, attempt, amount, idempotencyKey, description, transferId]);
  return moved ? { ...readMove(moved), isFirst: moved.transferId === transferId } : null;
}

interface MovedRow {
  transferId: string;
  sequence: string;
  balance: string;
  available: string;
}

const COLUMNS = 'transfer_id as "transferId", sequence, balance, available';
const creditAccount = prepare<MovedRow>(
  'credit-account',
  `select ${COLUMNS} from credit_account($1, $2, $3, $4, $5, $6, $7)`,
);
const refundAttempt = prepare<MovedRow>(
  'refund-attempt',
  `select ${COLUMNS} from refund_attempt($1, $2, $3, $4, $5, $6)`,
);

function readMove({ transferId, sequence, balance, available }: MovedRow): LedgerMove {
  return {
    transferId,
    sequence: BigInt(sequence),
    balance: readMicroCredits(balance),
    available: readMicroCredits(available),
  };
}
