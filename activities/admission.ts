// The first steps of an attempt: price it, set its credits aside, take one of the user's slots.
import { readPrice } from '../db/columns.ts';
import { forkEm } from '../db/database.ts';
import { reserve as reserveCredits } from '../db/ledger/reservations.ts';
import { admitTask } from '../db/tasks/admission.ts';
import { beginTask, findTask } from '../db/tasks/tasks.ts';
import { quote } from '../domain/pricing.ts';
import { isFinal, type TaskAttempt, type TaskStatus } from '../domain/tasks.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { failTaskWith } from './failures.ts';

/** Where an attempt stands. */
interface Standing {
  status: TaskStatus;
}

export function createAdmission(dependencies: ActivityDependencies) {
  const { database, lossBrake } = dependencies;
  return {
    estimate: (task: TaskAttempt) => estimate(dependencies, task),

    /**
     * Reserves for a run that a worker of an earlier release began: since then, `estimate` does. Answers
     * where the attempt stands, as `estimate` does.
     */
    async reserve(task: TaskAttempt): Promise<Standing & { creditsReserved: string }> {
      const verdict = await reserveCredits(forkEm(database), task);
      if (verdict.kind === 'refused') throw failTaskWith(verdict.reason);
      if (verdict.kind === 'reserved')
        return { status: 'queued', creditsReserved: verdict.amount.toString() };
      return { ...(await findEnd(dependencies, task)), creditsReserved: '0' };
    },

    /**
     * Takes one of the user's slots for running tasks, if user and key may still spend: the key may have been
     * revoked while the task waited. Answers where the attempt stands; 'queued': no slot is free.
     */
    async begin(task: TaskAttempt): Promise<Standing> {
      const em = forkEm(database);
      const row = lossBrake.isOn ? await findTask(em, task.taskId) : null;
      const verdict = await beginTask(em, task, await runningMax(dependencies, row?.userId ?? null));
      if (verdict.kind === 'refused') throw failTaskWith(verdict.reason);
      return { status: verdict.status === 'missing' ? 'failed' : verdict.status };
    },
  };
}

/**
 * Computes the estimate again from the order and the prices the task was accepted with, and fails the task if
 * it differs from the one the caller was given. Then turns the earmark into the attempt's reservation and
 * takes a slot, if user and key may still spend. Safe to repeat. Answers where the attempt stands: 'queued'
 * when no slot is free, a final status when it was cancelled before anything was reserved.
 */
async function estimate(
  dependencies: ActivityDependencies,
  task: TaskAttempt,
): Promise<Standing & { creditsEstimate: string; isReserved?: boolean }> {
  const em = forkEm(dependencies.database);
  const row = await findTask(em, task.taskId);
  if (!row || row.attempt !== task.attempt) return { status: 'failed', creditsEstimate: '0' };
  const { total } = quote(readPrice(row.price), row.ordered);
  if (total !== row.creditsEstimate) throw failTaskWith('internal_error');
  const verdict = await admitTask(em, task, await runningMax(dependencies, row.userId));
  if (verdict.kind === 'refused') throw failTaskWith(verdict.reason);
  const { status } = verdict.kind === 'reserved' ? verdict : await findEnd(dependencies, task);
  return { status, creditsEstimate: total.toString(), isReserved: true };
}

/** One for a user whom the loss brake holds: what a task cost is known before the next one begins. */
async function runningMax(
  { lossBrake, runningTasksPerUserMax }: ActivityDependencies,
  userId: string | null,
): Promise<number> {
  return userId !== null && (await lossBrake.holds(userId)) ? 1 : runningTasksPerUserMax;
}

/** The end of an attempt for which nothing can be reserved any more; any other status is a defect. */
async function findEnd(
  { database }: ActivityDependencies,
  { taskId, attempt }: TaskAttempt,
): Promise<Standing> {
  const row = await findTask(forkEm(database), taskId);
  const status = row && row.attempt === attempt ? row.status : 'failed';
  if (!isFinal(status)) throw failTaskWith('internal_error');
  return { status };
}
