// Starting the workflow of a task.
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { TaskToRun } from '../../domain/task-runs.ts';
import { GENERATION_QUEUE, SEARCH_ATTRIBUTES, workflowIdOf, type GenerateInput } from '../names.ts';
import { CALL_LIMIT_MS, type Temporal } from './temporal.ts';

/** Which request brought a task, for operators: it stands in the memo of the workflow. */
export interface Origin {
  requestId: string;
}

/**
 * How long an attempt may stand open beyond the vendor's deadline, all its runs together: far longer than any
 * outage that is waited out. Then Temporal ends it, and the sweeper settles its task as failed. A task that
 * waits for a slot so long fails before that, in its workflow (`AFTER_DEADLINE_MS`).
 */
const EXECUTION_MARGIN_SECONDS = 7 * 24 * 3600;

/** Between tries while the previous run of a retried task is still closing. */
const CLOSING_PAUSE_MS = 50;

/** A task to start, with what its workflow is given beside the row. */
export type StartTask = { task: TaskToRun; deadlineSeconds: number; origin?: Origin | undefined };

/**
 * Starts the task for a caller who waits: at most `waitMs`, also for the previous run of a retried task to
 * close. Never throws; `false`: Temporal did not acknowledge the start in time, and the sweeper will start
 * the task.
 */
export async function startTaskWithin(
  temporal: Temporal,
  start: StartTask,
  waitMs: number,
): Promise<boolean> {
  const deadlineAt = Date.now() + waitMs;
  for (;;) {
    try {
      if (await startTask(temporal, start, deadlineAt - Date.now())) return true;
    } catch {
      return false;
    }
    if (Date.now() + CLOSING_PAUSE_MS >= deadlineAt) return false;
    await new Promise((resolve) => setTimeout(resolve, CLOSING_PAUSE_MS));
  }
}

/** Starts the task; `false` when the previous run of the same task is still closing. */
export async function startTask(
  { client, within }: Temporal,
  start: StartTask,
  waitMs: number = CALL_LIMIT_MS,
): Promise<boolean> {
  try {
    await within(waitMs, () => client.workflow.start('generate', startOptionsOf(start)));
    return true;
  } catch (error) {
    // The first attempt's run exists, or has already ended: nothing is left to start.
    if (isAlreadyStarted(error)) return start.task.attempt === 1;
    throw error;
  }
}

function startOptionsOf({ task, deadlineSeconds, origin }: StartTask) {
  const input: GenerateInput = {
    taskId: task.id,
    attempt: task.attempt,
    mode: task.mode,
    model: task.model,
    provider: task.family,
    userId: task.userId,
    deadlineSeconds,
  };
  // A first attempt may be started by the API and the sweeper at once. A retry must not attach to a run that
  // is still closing, so it conflicts instead. Whatever the run before ended as, it may start: the row says
  // that there is something to do, also after a restored database, and a run too many only reads its status.
  const policies =
    task.attempt === 1
      ? ({ workflowIdReusePolicy: 'REJECT_DUPLICATE', workflowIdConflictPolicy: 'USE_EXISTING' } as const)
      : ({
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          workflowIdConflictPolicy: 'FAIL',
        } as const);
  return {
    ...policies,
    workflowId: workflowIdOf(task.id),
    taskQueue: GENERATION_QUEUE,
    workflowExecutionTimeout: (deadlineSeconds + EXECUTION_MARGIN_SECONDS) * 1000,
    args: [input],
    memo: { taskId: task.id, ...origin },
    staticSummary: `${task.mode} · ${task.model}`,
    typedSearchAttributes: [
      { key: SEARCH_ATTRIBUTES.taskStatus, value: 'queued' },
      { key: SEARCH_ATTRIBUTES.mode, value: task.mode },
      { key: SEARCH_ATTRIBUTES.model, value: task.model },
      { key: SEARCH_ATTRIBUTES.provider, value: task.family },
      { key: SEARCH_ATTRIBUTES.userId, value: task.userId },
      { key: SEARCH_ATTRIBUTES.attempt, value: task.attempt },
    ],
  };
}

function isAlreadyStarted(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError;
}
