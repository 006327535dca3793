// Finding what a crash left behind. Every step uses the functions that the API and the workflow use.
import type { Task } from '../db/entities/tasks.ts';
import { removeExpiredKeys } from '../db/idempotency.ts';
import { settleAbandonedCalls } from '../db/chat/chat-ledger.ts';
import { failTask } from '../db/tasks/settlement.ts';
import * as leftovers from '../db/tasks/sweep.ts';
import { cancelUnreserved } from '../db/tasks/tasks.ts';
import { TASK_FAILURES } from '../domain/failures.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { sweepUploads } from './sweep-uploads.ts';
import { forkEm } from '../db/database.ts';

/** A start takes milliseconds; one that has not arrived after this is lost. */
const FORGOTTEN_AFTER_SECONDS = 10;
/** A workflow that lives moves its row, or is found running. */
const QUIET_AFTER_SECONDS = 30;

export function createSweep({ database, storage, taskRuns, log, requestKeptDays }: ActivityDependencies) {
  return {
    async sweepTasks(): Promise<{ started: number; settled: number }> {
      const started = await startForgotten();
      await repeatCancels();
      const settled = await settleQuiet();
      return { started, settled: settled + (await settleAbandonedCalls(forkEm(database))) };
    },

    async removeOldRequests(): Promise<{ removed: number }> {
      await leftovers.removeExpiredSessions(forkEm(database));
      let removed = 0;
      for (let batch = -1; batch !== 0; removed += batch)
        batch = await leftovers.removeOldRequests(forkEm(database), requestKeptDays);
      while ((await removeExpiredKeys(forkEm(database))) > 0);
      await sweepUploads({ database, storage });
      return { removed };
    },
  };

  async function startForgotten(): Promise<number> {
    const tasks = await leftovers.claimUnstarted(forkEm(database), FORGOTTEN_AFTER_SECONDS);
    let started = 0;
    for (const task of tasks) {
      if (task.cancelRequestedAt) await cancelUnreserved(forkEm(database), task.userId, task.id);
      // Its run was stopped by force before it reserved anything. A retry needs no such look: it gets a new run.
      else if (task.attempt === 1 && (await taskRuns.describeTask(task.id)) === 'closed')
        await failStopped(task);
      else if (await taskRuns.startTask(task)) started += 1;
    }
    return started;
  }

  async function repeatCancels(): Promise<void> {
    const tasks = await leftovers.findUnconfirmedCancels(forkEm(database), FORGOTTEN_AFTER_SECONDS);
    for (const task of tasks) await taskRuns.cancelTask(task.id, 0);
  }

  async function settleQuiet(): Promise<number> {
    let settled = 0;
    for (const task of await leftovers.claimMaybeOrphaned(forkEm(database), QUIET_AFTER_SECONDS)) {
      if (await settle(task)) settled += 1;
    }
    return settled;
  }

  /** A workflow that nobody knows is started again, which is safe; one that ended without a word was stopped by force. */
  async function settle(task: Task): Promise<boolean> {
    const state = await taskRuns.describeTask(task.id);
    if (state === 'running') return false;
    if (state === 'unknown') return taskRuns.startTask(task);
    await failStopped(task);
    return true;
  }

  /** A workflow records its task's end before its own, so this only ever fills a gap. */
  async function failStopped(task: Task): Promise<void> {
    log.warn({ taskId: task.id }, 'the workflow ended without settling its task; the credits are given back');
    const failure = { code: 'internal_error', message: TASK_FAILURES.internal_error } as const;
    await failTask(forkEm(database), { taskId: task.id, attempt: task.attempt }, failure);
  }
}
