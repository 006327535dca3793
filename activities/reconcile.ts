// Compares database, Temporal and storage once and completely, and mends what differs if it is asked to.
import { countAbandonedCalls, settleAbandonedCalls } from '../db/chat/chat-ledger.ts';
import { forkEm } from '../db/database.ts';
import { isId } from '../db/ids.ts';
import { findUnknownTasks, findUnnamedFiles, listRestedTasks, type ResultFile } from '../db/tasks/sweep.ts';
import type { RunToCancel, TaskRuns } from '../domain/task-runs.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { findNeed, forEachTask, meetNeed, type Help, type TaskNeed } from './open-tasks.ts';

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

/** Why something was left as it is. `contradictory`: its figures contradict its account. */
export type Obstacle = Exclude<Help, 'helped'> | 'contradictory';

export interface Count {
  found: number;
  mended: number;
  /** How many were left, by the reason; those of which only the log tells are missing. */
  left: Partial<Record<Obstacle, number>>;
}

export type Reconciliation = Readonly<Record<Mismatch, Readonly<Count>>>;

/** A workflow that lives moves its row within this time, or is found running. */
const RESTED_AFTER_SECONDS = 30;
/** Many pages where thousands run. */
const LIST_LIMIT_MS = 120_000;
const FILES_PER_LOOK = 500;
const RESULTS_FOLDER = 'results';
const KIND_OF_NEED: Readonly<Record<TaskNeed, Mismatch>> = {
  start: 'tasksWithoutRun',
  failure: 'tasksOfEndedRuns',
  cancellation: 'unheardCancellations',
};

/**
 * Looks at every open task, every run of a task and every result, whatever the sweeper has looked at.
 * `mends`: does what the sweeper does in its rounds, but for the jobs at vendors, which it does not stop;
 * cancels runs whose task is unknown, and removes results that no task names. Safe to repeat, and beside
 * the sweeper. Throws StorageUnavailable, and errors of the database and of Temporal.
 */
export async function reconcile(
  dependencies: ReconcileDependencies,
  mends: boolean,
): Promise<Reconciliation> {
  const counts: Record<Mismatch, Count> = {
    abandonedCalls: await reconcileCalls(dependencies, mends),
    tasksWithoutRun: none(),
    tasksOfEndedRuns: none(),
    unheardCancellations: none(),
    tasksNotHelped: none(),
    runsWithoutTask: none(),
    filesWithoutTask: none(),
  };
  const note: Note = async (mismatch, mend) => {
    const help = mends ? await mend() : null;
    const count = counts[mismatch];
    count.found += 1;
    if (help === 'helped') count.mended += 1;
    else if (help !== null) count.left[help] = (count.left[help] ?? 0) + 1;
  };
  counts.tasksNotHelped.found = await reconcileTasks(dependencies, note);
  await reconcileRuns(dependencies, note);
  await reconcileFiles(dependencies, note);
  return counts;
}

/** Counts what was found, and mends it if that is asked for. */
type Note = (mismatch: Mismatch, mend: () => Promise<Help>) => Promise<void>;

function none(): Count {
  return { found: 0, mended: 0, left: {} };
}

async function reconcileCalls({ database }: ReconcileDependencies, mends: boolean): Promise<Count> {
  if (!mends) return { ...none(), found: await countAbandonedCalls(forkEm(database)) };
  for (let mended = 0; ;) {
    const { settled, contradictory } = await settleAbandonedCalls(forkEm(database));
    mended += settled;
    if (settled > 0) continue;
    const found = mended + contradictory.length;
    return { found, mended, left: contradictory.length > 0 ? { contradictory: contradictory.length } : {} };
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
  const running = await taskRuns.listRunning(LIST_LIMIT_MS);
  for (const taskId of await findUnknownTasks(forkEm(database), running))
    await note('runsWithoutTask', () => cancelRun(taskRuns, { id: taskId, attempt: null }));
}

/**
 * Files go before the rows that name them, and are there before them: one that no row names was left by a
 * process that died, or its task was taken back by a restore.
 */
async function reconcileFiles({ database, storage }: ReconcileDependencies, note: Note): Promise<void> {
  let files: ResultFile[] = [];
  const look = async (): Promise<void> => {
    for (const key of await findUnnamedFiles(forkEm(database), files))
      await note('filesWithoutTask', async () => {
        await storage.delete(key);
        return 'helped';
      });
    files = [];
  };
  for await (const key of storage.list(RESULTS_FOLDER)) {
    const taskId = key.split('/')[1] ?? '';
    if (!isId('task', taskId)) continue;
    files.push({ key, taskId });
    if (files.length === FILES_PER_LOOK) await look();
  }
  await look();
}

/** Asks the run to stop, which it does when a worker comes to it. */
async function cancelRun(taskRuns: TaskRuns, run: RunToCancel): Promise<Help> {
  const state = await taskRuns.cancelTask(run, 0);
  if (state === 'running') return 'helped';
  return state === 'unreachable' ? state : 'changed';
}
