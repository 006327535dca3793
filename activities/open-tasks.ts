// Whether an open task and its workflow still belong together, and what is done where they do not.
import { isDataFault } from '../db/batching.ts';
import { forkEm } from '../db/database.ts';
import type { Task } from '../db/entities/tasks.ts';
import { cancelUnreserved, failTask } from '../db/tasks/settlement.ts';
import { TASK_FAILURES } from '../domain/failures.ts';
import type { ActivityDependencies } from './dependencies.ts';

type OpenTaskDependencies = Pick<ActivityDependencies, 'database' | 'taskRuns' | 'log'>;

/** What brings a task and its workflow together again: a run, the end as failed, or the end as cancelled. */
export type TaskNeed = 'start' | 'failure' | 'cancellation';

/**
 * What came of help: `closing`: the run of the attempt before is still closing. `changed`: task or run went
 * on or ended meanwhile. `unreachable`: Temporal did not answer.
 */
export type Help = 'helped' | 'closing' | 'changed' | 'unreachable';

/** Failures one after the other, not for the row's own data, at which Temporal or the database is away. */
const FAILURES_IN_ROW_MAX = 3;
/** PostgreSQL's code for what `raise exception` of our functions says. */
const RAISED = 'P0001';

/** What an open task needs whose row has not changed for a while; null while its workflow runs. */
export async function findNeed({ taskRuns }: OpenTaskDependencies, task: Task): Promise<TaskNeed | null> {
  const isReserved = task.admittedAt !== null;
  if (!isReserved && task.cancelRequestedAt) return 'cancellation';
  const state = await taskRuns.describeTask(task);
  if (state === 'running') return null;
  // The run before a retry is closed; a retry that reserved nothing gets a new one.
  if (!isReserved && task.attempt > 1) return 'start';
  // Starting what Temporal does not know is safe; a run that is closed was stopped by force.
  return state === 'unknown' ? 'start' : 'failure';
}

/** Does what the task needs. Safe to repeat. */
export async function meetNeed(
  { database, taskRuns, log }: OpenTaskDependencies,
  task: Task,
  need: TaskNeed,
): Promise<Help> {
  const attempt = { taskId: task.id, attempt: task.attempt };
  if (need === 'start') return (await taskRuns.startTask(task)) ? 'helped' : 'closing';
  if (need === 'cancellation')
    return (await cancelUnreserved(forkEm(database), task.userId, attempt)) ? 'helped' : 'changed';
  const failure = { code: 'internal_error', message: TASK_FAILURES.internal_error } as const;
  // Fills a gap only: a workflow records the end of its task before its own, so it may have ended since.
  if ((await failTask(forkEm(database), attempt, failure)) !== 'failed') return 'changed';
  log.warn({ taskId: task.id }, 'the workflow ended without settling its task; the credits are given back');
  return 'helped';
}

/**
 * Does a step for each task and answers how many failed. One that fails is logged and does not keep the
 * others from theirs. Throws when several fail in a row, since then it is not the tasks; but those whose own
 * figures contradict each other may be as many as they are.
 */
export async function forEachTask(
  { log }: Pick<ActivityDependencies, 'log'>,
  tasks: readonly Task[],
  step: (task: Task) => Promise<void>,
): Promise<number> {
  let [failures, failuresInRow] = [0, 0];
  for (const task of tasks) {
    try {
      await step(task);
      failuresInRow = 0;
    } catch (error) {
      failures += 1;
      if (!isItsOwn(error)) failuresInRow += 1;
      if (failuresInRow === FAILURES_IN_ROW_MAX) throw error;
      log.warn({ err: error, taskId: task.id }, 'a task could not be helped');
    }
  }
  return failures;
}

/** Whether an error tells of the task's own data: refused by a constraint, or by `end_task`. */
function isItsOwn(error: unknown): boolean {
  return isDataFault(error) || (error instanceof Error && 'code' in error && error.code === RAISED);
}
