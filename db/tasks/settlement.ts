// How a task ends: its final status and the move of its credits in one statement. The first end stands.
import type { MicroCredits } from '../../domain/credits.ts';
import type { TaskFailureCode } from '../../domain/failures.ts';
import type { TaskAttempt, TaskStatus } from '../../domain/tasks.ts';
import type { TaskOutput } from '../columns.ts';
import { makeId } from '../ids.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';

/** Where an attempt stands after its end was written; `missing`: the database has no such task. */
export type SettledStatus = TaskStatus | 'missing';

/**
 * Completes and charges. Answers the status the attempt really has afterwards: `completed`, or the final
 * status it had already.
 */
export async function completeTask(
  em: Em,
  task: TaskAttempt,
  result: { outputs: TaskOutput[]; outputText: string | null; amount: MicroCredits; loss: MicroCredits },
): Promise<SettledStatus> {
  return end(em, task, { status: 'completed', ...result });
}

/**
 * Fails the attempt and returns its credits. `loss`: what the vendor bills although the attempt failed.
 * Answers the status the attempt really has afterwards.
 */
export async function failTask(
  em: Em,
  task: TaskAttempt,
  failure: { code: TaskFailureCode; message: string; loss?: MicroCredits },
): Promise<SettledStatus> {
  return end(em, task, { status: 'failed', ...failure });
}

/** Cancels the attempt and returns its credits. `loss` and the answer are those of `failTask`. */
export async function cancelTask(em: Em, task: TaskAttempt, loss: MicroCredits = 0n): Promise<SettledStatus> {
  return end(em, task, { status: 'cancelled', loss, code: 'task_cancelled' });
}

/**
 * Cancels an attempt for which nothing was reserved yet, which needs no workflow. Returns false if something
 * was, or if it is not the task's newest.
 */
export async function cancelUnreserved(em: Em, userId: string, task: TaskAttempt): Promise<boolean> {
  const [ended] = await endUnreserved(em, [task.taskId, makeId('led'), userId, task.attempt]);
  return ended?.was === 'queued' && ended.status === 'cancelled';
}

interface End {
  status: 'completed' | 'failed' | 'cancelled';
  outputs?: TaskOutput[];
  outputText?: string | null;
  amount?: MicroCredits;
  loss?: MicroCredits;
  code?: TaskFailureCode | 'task_cancelled';
  message?: string;
}

async function end(em: Em, { taskId, attempt }: TaskAttempt, ending: End): Promise<SettledStatus> {
  const { status, outputs, outputText = null, amount = 0n, loss = 0n, code = null, message = null } = ending;
  const stored = outputs ? JSON.stringify(outputs) : null;
  const values = [taskId, attempt, status, stored, outputText, amount, loss, code, message, makeId('led')];
  const [ended] = await endTask(em, values);
  return ended?.status ?? 'missing'; // a database restored to an earlier moment
}

const endTask = prepare<{ status: TaskStatus | null }>(
  'end-task',
  'select end_task($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, false) as status',
);
const endUnreserved = prepare<{ was: TaskStatus; status: TaskStatus | null }>(
  'end-unreserved-task',
  `select status as was,
          end_task(id, $4, 'cancelled', null, null, 0, 0, 'task_cancelled', null, $2, true) as status
   from task where id = $1 and user_id = $3`,
);
