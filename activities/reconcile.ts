// Compares database, Temporal and storage once and completely, and mends what differs if it is asked to.
import { countAbandonedCalls, settleAbandonedCalls } from '../db/chat/chat-ledger.ts';
import { forkEm } from '../db/database.ts';
import { isId } from '../db/ids.ts';
import { findUnknownTasks, listRestedTasks } from '../db/tasks/sweep.ts';
import type { RunToCancel, TaskRuns } from '../domain/task-runs.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { findNeed, forEachTask, meetNeed, type TaskNeed } from './open-tasks.ts';

export type ReconcileDependencies = Pick<ActivityDependencies, 'database' | 'storage' | 'taskRuns' | 'log'>;

/** Where two of the three can disagree. */
export type Mismatch =
  | 'abandonedCalls'
  | 'tasksWithoutRun'
  | 'tasksOfEndedRuns'
  | 'unheardCancellations'
  | 'tasksNotHelped'
  | 'runsWithoutTask'
  | 'filesWithoutTask';

export type Reconciliation = Readonly<Record<Mismatch, { found: number; mended: number }>>;

/** A workflow that lives moves its row within this time, or is found running. */
const RESTED_AFTER_SECONDS = 30;
const FILES_PER_LOOK = 500;
const RESULTS_FOLDER = 'results';
const KIND_OF_NEED: Readonly<Record<TaskNeed, Mismatch>> = {
  start: 'tasksWithoutRun',
  failure: 'tasksOfEndedRuns',
  cancellation: 'unheardCancellations',
};

/**
 * Looks at every open task, every run of a task and every result, whatever the sweeper has looked at.
 * `mends`: does what the sweeper does in its rounds, cancels runs whose task is unknown, and removes results
 * whose task is unknown. Safe to repeat, and beside the sweeper. Throws StorageUnavailable, and errors of
 * the database and of Temporal.
 */
export async function reconcile(
  dependencies: ReconcileDependencies,
  mends: boolean,
): Promise<Reconciliation> {
  const counts: Record<Mismatch, { found: number; mended: number }> = {
    abandonedCalls: await reconcileCalls(dependencies, mends),
    tasksWithoutRun: { found: 0, mended: 0 },
    tasksOfEndedRuns: { found: 0, mended: 0 },
    unheardCancellations: { found: 0, mended: 0 },
    tasksNotHelped: { found: 0, mended: 0 },
    runsWithoutTask: { found: 0, mended: 0 },
    filesWithoutTask: { found: 0, mended: 0 },
  };
  const note = async (mismatch: Mismatch, mend: () => Promise<boolean>): Promise<void> => {
    const isMended = mends && (await mend());
    counts[mismatch].found += 1;
    if (isMended) counts[mismatch].mended += 1;
  };
  counts.tasksNotHelped.found = await reconcileTasks(dependencies, note);
  await reconcileRuns(dependencies, note);
  await reconcileFiles(dependencies, note);
  return counts;
}

type Note = (mismatch: Mismatch, mend: () => Promise<boolean>) => Promise<void>;

async function reconcileCalls(
  { database }: ReconcileDependencies,
  mends: boolean,
): Promise<{ found: number; mended: number }> {
  if (!mends) return { found: await countAbandonedCalls(forkEm(database)), mended: 0 };
  for (let mended = 0; ;) {
    const { settled, contradictory } = await settleAbandonedCalls(forkEm(database));
    mended += settled;
    if (settled === 0) return { found: mended + contradictory.length, mended };
  }
}

/** Answers how many tasks could not be looked at or helped, which are in no other count. */
async function reconcileTasks(dependencies: ReconcileDependencies, note: Note): Promise<number> {
  const { database, taskRuns } = dependencies;
  let failures = 0;
  for (let afterId = ''; ;) {
    const tasks = await listRestedTasks(forkEm(database), RESTED_AFTER_SECONDS, afterId);
    const last = tasks.at(-1);
    if (!last) return failures;
    failures += await forEachTask(dependencies, tasks, async (task) => {
      const need = await findNeed(dependencies, task);
      if (need !== null) await note(KIND_OF_NEED[need], () => meetNeed(dependencies, task, need));
      else if (task.cancelRequestedAt) await note('unheardCancellations', () => cancelRun(taskRuns, task));
    });
    afterId = last.id;
  }
}

/** A row is there before its run, so that a run without one is of a task that a restore took back. */
async function reconcileRuns({ database, taskRuns }: ReconcileDependencies, note: Note): Promise<void> {
  const running = await taskRuns.listRunning();
  for (const taskId of await findUnknownTasks(forkEm(database), running))
    await note('runsWithoutTask', () => cancelRun(taskRuns, { id: taskId, attempt: null }));
}

/** Files go before the rows that name them, so that a file without one has no task that will need it. */
async function reconcileFiles({ database, storage }: ReconcileDependencies, note: Note): Promise<void> {
  let keysOf = new Map<string, string[]>();
  let keys = 0;
  const look = async (): Promise<void> => {
    for (const taskId of await findUnknownTasks(forkEm(database), [...keysOf.keys()]))
      for (const key of keysOf.get(taskId) ?? [])
        await note('filesWithoutTask', async () => {
          await storage.delete(key);
          return true;
        });
    [keysOf, keys] = [new Map(), 0];
  };
  for await (const key of storage.list(RESULTS_FOLDER)) {
    const taskId = key.split('/')[1] ?? '';
    if (!isId('task', taskId)) continue;
    keysOf.set(taskId, [...(keysOf.get(taskId) ?? []), key]);
    keys += 1;
    if (keys === FILES_PER_LOOK) await look();
  }
  await look();
}

async function cancelRun(taskRuns: TaskRuns, run: RunToCancel): Promise<boolean> {
  return (await taskRuns.cancelTask(run, 0)) !== 'unreachable';
}
