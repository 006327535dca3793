// How a task ends: its final status and the move of its credits in one transaction. The first end stands.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import type { TaskFailureCode } from '../../domain/failures.ts';
import type { TaskAttempt, TaskStatus } from '../../domain/tasks.ts';
import * as reservations from '../ledger/reservations.ts';
import type { TaskOutput } from '../columns.ts';
import type { Em } from '../database.ts';
import { closeOpenTask } from './tasks.ts';

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
  return em.transactional(async (tx) => {
    const rows = await tx.execute<{ id: string }[]>(sql`
      with ${closeOpenTask(sql`id = ${task.taskId} and attempt = ${task.attempt} and status = 'in_progress'`)},
      ended as (
        update task t set status = 'completed', progress = 100, outputs = ${JSON.stringify(result.outputs)}::jsonb,
               output_text = ${result.outputText},
               credits_charged = ${result.amount}, completed_at = now(), updated_at = now()
        from closing l where t.id = l.id
        returning t.id, t.attempt
      )
      insert into task_event (task_id, attempt, event) select id, attempt, 'completed' from ended
      returning task_id as id`);
    if (rows.length === 0) return readStatus(tx, task);
    const charged = await reservations.charge(tx, { ...task, amount: result.amount, loss: result.loss });
    if (!charged) throw new Error(`task ${task.taskId} has no open reservation to charge`);
    return 'completed';
  });
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
  return em.transactional(async (tx) => {
    const rows = await tx.execute<{ id: string }[]>(sql`
      with ${closeOpenTask(openAttempt(task))},
      ended as (
        update task t set status = 'failed', error_code = ${failure.code}, error_message = ${failure.message},
               completed_at = now(), updated_at = now()
        from closing l where t.id = l.id
        returning t.id, t.attempt
      )
      insert into task_event (task_id, attempt, event, detail) select id, attempt, 'failed', ${failure.code} from ended
      returning task_id as id`);
    return rows.length === 0 ? readStatus(tx, task) : releaseAnd(tx, task, 'failed', failure.loss);
  });
}

/** Cancels the attempt and returns its credits. `loss` and the answer are those of `failTask`. */
export async function cancelTask(em: Em, task: TaskAttempt, loss?: MicroCredits): Promise<SettledStatus> {
  return em.transactional(async (tx) => {
    const rows = await tx.execute<{ id: string }[]>(sql`
      with ${closeOpenTask(openAttempt(task))},
      ended as (
        update task t set status = 'cancelled', error_code = 'task_cancelled', completed_at = now(), updated_at = now()
        from closing l where t.id = l.id
        returning t.id, t.attempt
      )
      insert into task_event (task_id, attempt, event) select id, attempt, 'cancelled' from ended
      returning task_id as id`);
    return rows.length === 0 ? readStatus(tx, task) : releaseAnd(tx, task, 'cancelled', loss);
  });
}

function openAttempt({ taskId, attempt }: TaskAttempt) {
  return sql`id = ${taskId} and attempt = ${attempt} and status in ('queued', 'in_progress')`;
}

async function releaseAnd(
  tx: Em,
  task: TaskAttempt,
  status: TaskStatus,
  loss?: MicroCredits,
): Promise<TaskStatus> {
  await reservations.release(tx, task, loss); // there is none when the task ended before it was admitted
  return status;
}

/** Answers `failed` when there is a later attempt: only a failed one can have been retried. */
async function readStatus(tx: Em, task: TaskAttempt): Promise<SettledStatus> {
  const [row] = await tx.execute<{ status: TaskStatus; attempt: number }[]>(sql`
    select status, attempt from task where id = ${task.taskId}`);
  if (!row) return 'missing'; // a database restored to an earlier moment
  return row.attempt === task.attempt ? row.status : 'failed';
}
