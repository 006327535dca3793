// Finding what a crash left behind. Every step uses the functions that the API and the workflow use.
import { settleAbandonedCalls } from '../db/chat/chat-ledger.ts';
import { forkEm } from '../db/database.ts';
import type { Task } from '../db/entities/tasks.ts';
import { removeExpiredKeys } from '../db/idempotency.ts';
import { cancelUnreserved, failTask } from '../db/tasks/settlement.ts';
import * as leftovers from '../db/tasks/sweep.ts';
import { removeOldWebhookEvents } from '../db/webhooks/retention.ts';
import { RENEWALS_PER_LEASE } from '../domain/chat-calls.ts';
import { TASK_FAILURES } from '../domain/failures.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { sweepUploads } from './sweep-uploads.ts';
import { sweepDeletedVideos } from './sweep-videos.ts';

/** A start takes milliseconds; one that has not arrived after this is lost. */
const UNSTARTED_AFTER_SECONDS = 10;
/** A workflow that lives moves its row, or is found running. */
const MAYBE_ORPHANED_AFTER_SECONDS = 30;
/** Failures one after the other at which Temporal or the database is away, and a round ends. */
const FAILURES_IN_ROW_MAX = 3;

export function createSweep(dependencies: ActivityDependencies) {
  const { database, storage, requestKeptDays } = dependencies;
  const abandonedCalls = createAbandonedCalls(dependencies);

  return {
    async sweepTasks(): Promise<{ started: number; settled: number }> {
      const calls = await abandonedCalls.settle();
      const started = await startUnstarted(dependencies);
      await repeatCancels(dependencies);
      const settled = await settleOrphaned(dependencies);
      return { started, settled: settled + calls };
    },

    async removeOldRequests(): Promise<{ removed: number }> {
      await leftovers.removeExpiredSessions(forkEm(database));
      let removed = 0;
      for (let batch = -1; batch !== 0; removed += batch)
        batch = await leftovers.removeOldRequests(forkEm(database), requestKeptDays);
      while ((await removeExpiredKeys(forkEm(database))) > 0);
      while ((await removeOldWebhookEvents(forkEm(database))) > 0);
      await sweepUploads({ database, storage });
      await sweepDeletedVideos({ database, storage });
      return { removed };
    },
  };
}

/**
 * Settles chat calls whose lease is over. While the database is away no process can renew a lease, so that
 * its end proves nothing: after a round that could not reach the database, each gets the time of a renewal.
 */
function createAbandonedCalls({ database, chatLeaseSeconds }: ActivityDependencies) {
  const renewalMs = (chatLeaseSeconds / RENEWALS_PER_LEASE) * 1000;
  let restsUntil = 0;
  return {
    async settle(): Promise<number> {
      const em = forkEm(database);
      try {
        if (Date.now() >= restsUntil) return await settleAbandonedCalls(em);
        await em.execute('select 1');
        return 0;
      } catch (error) {
        restsUntil = Date.now() + renewalMs;
        throw error;
      }
    },
  };
}

/** Answers how many were started. */
async function startUnstarted(dependencies: ActivityDependencies): Promise<number> {
  const { database, taskRuns } = dependencies;
  const tasks = await leftovers.claimUnstarted(forkEm(database), UNSTARTED_AFTER_SECONDS);
  let started = 0;
  await forEachTask(dependencies, tasks, async (task) => {
    if (task.cancelRequestedAt) await cancelUnreserved(forkEm(database), task.userId, task.id);
    // Its run was stopped by force before it reserved anything. A retry is not asked about: it gets a new
    // run.
    else if (task.attempt === 1 && (await taskRuns.describeTask(task.id)) === 'closed')
      await failOrphaned(dependencies, task);
    else if (await taskRuns.startTask(task)) started += 1;
  });
  return started;
}

async function repeatCancels(dependencies: ActivityDependencies): Promise<void> {
  const { database, taskRuns } = dependencies;
  const tasks = await leftovers.findUnconfirmedCancels(forkEm(database), UNSTARTED_AFTER_SECONDS);
  await forEachTask(dependencies, tasks, async (task) => void (await taskRuns.cancelTask(task.id, 0)));
}

/**
 * Does a step for each task. One that fails is logged and does not keep the others from theirs; throws when
 * several fail in a row, since then it is not the tasks.
 */
async function forEachTask(
  { log }: ActivityDependencies,
  tasks: readonly Task[],
  step: (task: Task) => Promise<void>,
): Promise<void> {
  let failuresInRow = 0;
  for (const task of tasks) {
    try {
      await step(task);
      failuresInRow = 0;
    } catch (error) {
      failuresInRow += 1;
      if (failuresInRow === FAILURES_IN_ROW_MAX) throw error;
      log.warn({ err: error, taskId: task.id }, 'the sweeper could not help a task');
    }
  }
}

/** Answers how many were settled or started again. */
async function settleOrphaned(dependencies: ActivityDependencies): Promise<number> {
  const em = forkEm(dependencies.database);
  let settled = 0;
  const tasks = await leftovers.claimMaybeOrphaned(em, MAYBE_ORPHANED_AFTER_SECONDS);
  await forEachTask(dependencies, tasks, async (task) => {
    if (await settleIfOrphaned(dependencies, task)) settled += 1;
  });
  return settled;
}

/**
 * A workflow that Temporal does not know is started again, which is safe; a closed one was stopped by force.
 */
async function settleIfOrphaned(dependencies: ActivityDependencies, task: Task): Promise<boolean> {
  const state = await dependencies.taskRuns.describeTask(task.id);
  if (state === 'running') return false;
  if (state === 'unknown') return dependencies.taskRuns.startTask(task);
  await failOrphaned(dependencies, task);
  return true;
}

/** Fills a gap only: a workflow records the end of its task before its own. */
async function failOrphaned({ database, log }: ActivityDependencies, task: Task): Promise<void> {
  log.warn({ taskId: task.id }, 'the workflow ended without settling its task; the credits are given back');
  const failure = { code: 'internal_error', message: TASK_FAILURES.internal_error } as const;
  await failTask(forkEm(database), { taskId: task.id, attempt: task.attempt }, failure);
}
