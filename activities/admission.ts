// The first steps of an attempt: price it, set its credits aside, take one of the user's slots.
import { readPrice } from '../db/columns.ts';
import { beginTask, findTask } from '../db/tasks/tasks.ts';
import { quote } from '../domain/pricing.ts';
import { isFinal, type TaskAttempt, type TaskStatus } from '../domain/tasks.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { failTaskWith } from './failures.ts';
import { forkEm } from '../db/database.ts';
import { reserve as reserveCredits } from '../db/ledger/reservations.ts';

export function createAdmission({ database, runningTasksPerUserMax, lossBrake }: ActivityDependencies) {
  /** One for a user whom the loss brake holds: what a task cost is known before the next one begins. */
  async function runningMax({ taskId }: TaskAttempt): Promise<number> {
    const task = lossBrake.isOn ? await findTask(forkEm(database), taskId) : null;
    return task && (await lossBrake.holds(task.userId)) ? 1 : runningTasksPerUserMax;
  }

  return {
    /**
     * Computes the estimate again from the order and the prices the task was accepted with, and fails the
     * task if it differs from the one the caller was given. Answers the attempt's status.
     */
    async estimate(task: TaskAttempt): Promise<{ status: TaskStatus; creditsEstimate: string }> {
      const row = await findTask(forkEm(database), task.taskId);
      if (!row || row.attempt !== task.attempt) return { status: 'failed', creditsEstimate: '0' };
      const { total } = quote(readPrice(row.price), row.ordered);
      if (total !== row.creditsEstimate) throw failTaskWith('internal_error');
      return { status: row.status, creditsEstimate: total.toString() };
    },

    /**
     * Turns the earmark into the attempt's reservation, if user and key may still spend. Safe to repeat.
     * Answers where the attempt stands: a final status when it was cancelled before anything was reserved.
     */
    async reserve(task: TaskAttempt): Promise<{ status: TaskStatus; creditsReserved: string }> {
      const em = forkEm(database);
      const verdict = await reserveCredits(em, task);
      if (verdict.kind === 'refused') throw failTaskWith(verdict.reason);
      if (verdict.kind === 'reserved')
        return { status: 'queued', creditsReserved: verdict.amount.toString() };
      const row = await findTask(em, task.taskId);
      const status = row && row.attempt === task.attempt ? row.status : 'failed';
      if (!isFinal(status)) throw failTaskWith('internal_error');
      return { status, creditsReserved: '0' };
    },

    /**
     * Takes one of the user's slots for running tasks, if user and key may still spend: the key may have been
     * revoked while the task waited. Answers where the attempt stands; 'queued': no slot is free.
     */
    async begin(task: TaskAttempt): Promise<{ status: TaskStatus }> {
      const verdict = await beginTask(forkEm(database), task, await runningMax(task));
      if (verdict.kind === 'refused') throw failTaskWith(verdict.reason);
      return { status: verdict.status === 'missing' ? 'failed' : verdict.status };
    },
  };
}
