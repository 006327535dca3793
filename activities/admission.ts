// The first steps of an attempt: price it, set its credits aside, take one of the user's slots.
import { readPrice } from '../db/columns.ts';
import { beginTask, findTask } from '../db/tasks/tasks.ts';
import { quote } from '../domain/pricing.ts';
import type { TaskAttempt, TaskStatus } from '../domain/tasks.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { failTaskWith } from './failures.ts';
import { forkEm } from '../db/database.ts';
import { reserve as reserveCredits } from '../db/ledger/reservations.ts';

export function createAdmission({ database, runningTasksPerUserMax }: ActivityDependencies) {
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

    /** Sets the estimate aside. Safe to repeat: the attempt has one reservation. */
    async reserve(task: TaskAttempt): Promise<{ creditsReserved: string }> {
      const verdict = await reserveCredits(forkEm(database), task);
      if (verdict.kind === 'refused') throw failTaskWith(verdict.reason);
      if (verdict.kind === 'not_claimable') throw failTaskWith('internal_error');
      return { creditsReserved: verdict.amount.toString() };
    },

    /** Takes one of the user's slots for running tasks, if one is free. */
    async begin(task: TaskAttempt): Promise<'started' | 'waiting'> {
      const answer = await beginTask(forkEm(database), task, runningTasksPerUserMax);
      if (answer === 'gone') throw failTaskWith('internal_error');
      return answer;
    },
  };
}
