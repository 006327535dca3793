// Gives a text task without a limit of the caller the longest answer that the credits of its user allow, as
// chat calls have it.
import type { Em } from '../../db/database.ts';
import { findSpareAmount, type Spender } from '../../db/ledger/spare-amount.ts';
import type { NewTask } from '../../db/tasks/new-tasks.ts';
import { fitAnswers, quoteLongest } from '../../domain/orders/answer-length.ts';
import type { AnswerBounds } from '../../domain/orders/text.ts';
import { quote } from '../../domain/pricing.ts';
import type { KeyCaller, SessionCaller } from '../context.ts';

/**
 * Answers the task with its order and estimate for the longest answer that may be set aside now. The task
 * comes with those for the shortest answer, and without `bounds` when it is no text. What is set aside in
 * the same transaction is surely still there.
 */
export async function fitToCredits<Task extends Pick<NewTask, 'ordered' | 'price' | 'creditsEstimate'>>(
  em: Em,
  spender: Spender,
  task: Task,
  bounds: AnswerBounds | null,
): Promise<Task> {
  if (!bounds) return task;
  const { price, creditsEstimate: least } = task;
  const most = quoteLongest(price, task.ordered, bounds);
  const amount = most > least ? await findSpareAmount(em, spender, least, most) : most;
  const ordered = fitAnswers(price, task.ordered, bounds, amount);
  return { ...task, ordered, creditsEstimate: quote(price, ordered).total };
}

/** Whether the order depends on the credits that there are. */
export function dependsOnCredits(bounds: AnswerBounds | null): boolean {
  return bounds !== null && bounds.most > bounds.least;
}

/** Who pays for what this caller orders. */
export function spenderOf(caller: KeyCaller | SessionCaller): Spender {
  return { userId: caller.user.id, keyId: caller.proof === 'key' ? caller.key.id : null };
}
