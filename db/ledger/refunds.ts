// Refunds that an operator gives: a part of what a task was charged, or all that is left of it.
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';
import { prepare } from '../prepared.ts';
import { refund, type Refund } from './ledger.ts';

export type TaskRefund =
  | { kind: 'refunded'; userId: string; credits: MicroCredits; refund: Refund }
  /** `left`: what the task was charged and not yet refunded. */
  | { kind: 'too_much'; left: MicroCredits }
  | { kind: 'not_charged' };

/**
 * Gives back `credits` of a task's charge, or all that is left where that is null, with an audit entry. The
 * same task, amount asked for and note are one refund: a repeat answers with the first one.
 */
export async function refundTask(
  em: Em,
  origin: AuditOrigin,
  { taskId, credits: wanted, note }: { taskId: string; credits: MicroCredits | null; note: string },
): Promise<TaskRefund> {
  return em.transactional(async (tx) => {
    await lockAccount(tx, [taskId]); // another refund of the task leaves less
    const charge = await findChargeOf(tx, taskId);
    if (!charge) return { kind: 'not_charged' };
    const { userId, attempt, left } = charge;
    const credits = wanted ?? left;
    // By what was asked: what is left may come to the amount of an earlier refund with the same note.
    const idempotencyKey = `refund:${taskId}:${attempt}:${wanted ?? 'all'}:${note}`;
    const refunded = await refund(tx, {
      taskId,
      attempt,
      amount: credits,
      idempotencyKey,
      description: note,
    });
    if (!refunded) return { kind: 'too_much', left };
    if (refunded.isFirst)
      await writeAuditEntry(tx, origin, {
        action: 'REFUND_TASK',
        targetType: 'task',
        targetId: taskId,
        detail: { credits: toCredits(credits), note, ledgerEntryId: refunded.transferId },
      });
    return { kind: 'refunded', userId, credits, refund: refunded };
  });
}

interface Charge {
  userId: string;
  attempt: number;
  left: MicroCredits;
}

/** The one attempt of a task that was charged; null where none was. It outlives the task's own row. */
async function findChargeOf(tx: Em, taskId: string): Promise<Charge | null> {
  const [row] = await selectCharge(tx, [taskId]);
  return row ? { ...row, left: readMicroCredits(row.left) } : null;
}

const lockAccount = prepare(
  'lock-account-of-charge',
  `select from account
   where user_id = (select user_id from task_attempt where task_id = $1 and state = 'charged') for update`,
);
const selectCharge = prepare<{ userId: string; attempt: number; left: string }>(
  'find-charged-attempt',
  `select user_id as "userId", attempt, (charged - refunded)::text as left from task_attempt
   where task_id = $1 and state = 'charged'`,
);
