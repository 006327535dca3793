// Finding what a crash left behind. Every step uses the functions that the API and the workflow use.
import { forkEm } from '../db/database.ts';
import type { Task } from '../db/entities/tasks.ts';
import { removeExpiredKeys } from '../db/idempotency/idempotency-keys.ts';
import { removeExpiredSessions } from '../db/identity/ending-sessions.ts';
import * as leftovers from '../db/tasks/sweep.ts';
import { removeOldWebhookEvents } from '../db/webhooks/retention.ts';
import { createAbandonedCalls } from './abandoned-calls.ts';
import { stopJobOf } from './cancel-job.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { findNeed, forEachTask, meetNeed, type TaskNeed } from './open-tasks.ts';
import { sweepUploads } from './sweep-uploads.ts';
import { sweepDeletedVideos } from './sweep-videos.ts';

/** A start takes milliseconds; one that has not arrived after this is lost. */
const UNSTARTED_AFTER_SECONDS = 10;
/** A workflow that lives moves its row, or is found running. */
const MAYBE_ORPHANED_AFTER_SECONDS = 30;
/**
 * How long a round goes on starting lost starts, and how long on ending orphans: the check of the ledger,
 * which comes after, is not late.
 */
const HELPING_MS = 10_000;
/** A page of 1,000 runs takes 0.2 s: enough for 90,000. Without the list a round goes on, and finds less. */
const LIST_LIMIT_MS = 20_000;

export function createSweep(dependencies: ActivityDependencies) {
  const { database, storage, requestKeptDays } = dependencies;
  const abandonedCalls = createAbandonedCalls(dependencies);
  const unconfirmedCancels = createUnconfirmedCancels(dependencies);

  return {
    async sweepTasks(): Promise<{ started: number; settled: number }> {
      const swept = { started: 0, settled: 0 };
      await runAll([
        async () => {
          swept.settled += await abandonedCalls.settle();
        },
        async () => {
          swept.started += await startLostTasks(dependencies);
        },
        () => unconfirmedCancels.repeat(),
        async () => {
          swept.settled += await settleOrphans(dependencies);
        },
      ]);
      return swept;
    },

    /**
     * Removes what nothing asks for any more: expired sessions, requests and idempotency keys, old events of
     * webhooks, uploads, files of deleted videos. Named after the first of them, since names are recorded.
     */
    async removeOldRequests(): Promise<{ removed: number }> {
      let removed = 0;
      await runAll([
        () => removeExpiredSessions(forkEm(database)),
        async () => {
          for (let batch = -1; batch !== 0; removed += batch)
            batch = await leftovers.removeOldRequests(forkEm(database), requestKeptDays);
        },
        async () => {
          while ((await removeExpiredKeys(forkEm(database))) > 0);
        },
        async () => {
          while ((await removeOldWebhookEvents(forkEm(database))) > 0);
        },
        () => sweepUploads({ database, storage }),
        () => sweepDeletedVideos({ database, storage }),
      ]);
      return { removed };
    },
  };
}

/** Starts tasks whose starts were lost. Answers how many. */
async function startLostTasks(dependencies: ActivityDependencies): Promise<number> {
  const { start } = await meetNeedsOfBatches(dependencies, () =>
    leftovers.claimUnstarted(forkEm(dependencies.database), UNSTARTED_AFTER_SECONDS),
  );
  return start;
}

/** Runs one after the other; a part that fails keeps none of the others back. Throws the first error. */
async function runAll(parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const part of parts) await part().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/**
 * Ends tasks whose workflow was ended by force, and starts those that have none. Answers how many. The list
 * of runs is a few calls for thousands of tasks, but it may be behind: those that it lacks are looked at
 * first, and each of the others in its turn, also while it runs as far as the list knows.
 */
async function settleOrphans(dependencies: ActivityDependencies): Promise<number> {
  const { database, taskRuns, log } = dependencies;
  const runningIds = await taskRuns.listRunning(LIST_LIMIT_MS).catch((err: unknown) => {
    log.warn({ err }, 'Temporal did not list its runs; orphaned tasks are found later');
    return [];
  });
  const { start, failure } = await meetNeedsOfBatches(dependencies, () =>
    leftovers.claimMaybeOrphaned(forkEm(database), MAYBE_ORPHANED_AFTER_SECONDS, runningIds),
  );
  return start + failure;
}

/**
 * Repeats cancellations that are not confirmed, a page in each round. The next page begins after the task
 * that this process tried last, so that none waits for those that stay unconfirmed. Throws when several in a
 * row fail, as when Temporal is away (`forEachTask`).
 */
function createUnconfirmedCancels(dependencies: ActivityDependencies) {
  const { database, taskRuns } = dependencies;
  let lastTriedId = '';
  return {
    async repeat(): Promise<void> {
      const em = forkEm(database);
      const tasks = await leftovers.listUnconfirmedCancels(em, UNSTARTED_AFTER_SECONDS, lastTriedId);
      await forEachTask(dependencies, tasks, async (task) => {
        lastTriedId = task.id;
        const state = await taskRuns.cancelTask(task, 0);
        if (state === 'unreachable') throw new Error('Temporal did not answer a cancellation');
      });
    },
  };
}

/**
 * Helps batch after batch while most of a batch needed it: thousands after an outage of Temporal. A batch
 * that mostly runs, or that the API is starting, is looked at once a round. Answers how many tasks were
 * started, and how many failed.
 */
async function meetNeedsOfBatches(
  dependencies: ActivityDependencies,
  claim: () => Promise<Task[]>,
): Promise<{ start: number; failure: number }> {
  const endsAt = Date.now() + HELPING_MS;
  const met = { start: 0, failure: 0 };
  for (;;) {
    const batch = await claim();
    const { start, failure } = await meetNeeds(dependencies, batch);
    met.start += start;
    met.failure += failure;
    if ((start + failure) * 2 <= batch.length || Date.now() > endsAt) return met;
  }
}

/**
 * How many tasks of each need were helped. The jobs of those that were failed are stopped meanwhile: a vendor
 * that does not answer keeps no other task waiting.
 */
async function meetNeeds(
  dependencies: ActivityDependencies,
  tasks: readonly Task[],
): Promise<Record<TaskNeed, number>> {
  const met = { start: 0, failure: 0, cancellation: 0 };
  const stops: Promise<void>[] = [];
  await forEachTask(dependencies, tasks, async (task) => {
    const need = await findNeed(dependencies, task);
    if (need === null || (await meetNeed(dependencies, task, need)) !== 'helped') return;
    met[need] += 1;
    if (need === 'failure') stops.push(stopJobOf(dependencies, task));
  }).finally(() => Promise.all(stops));
  return met;
}
