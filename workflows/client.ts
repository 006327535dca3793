// Starts, cancels and looks at workflows: the one way to them, for the API and for the sweeper's activity.
import { WorkflowFailedError, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import type { RunToCancel, TaskRuns, TaskRunState, TaskToRun } from '../domain/task-runs.ts';
import type { WebhookRuns } from '../domain/webhooks.ts';
import { startWebhook } from './client/start-webhook.ts';
import { startTask, startTaskWithin, type Origin } from './client/start-task.ts';
import { ensureSweepSchedule } from './client/sweep-schedule.ts';
import { CALL_LIMIT_MS, connectTemporal, type Temporal, type TemporalSettings } from './client/temporal.ts';
import { SEARCH_ATTRIBUTES, taskIdOf, workflowIdOf } from './names.ts';

export interface TaskWorkflows extends TaskRuns, WebhookRuns {
  /**
   * Starts the task for a caller who waits, at most `waitMs`. Never throws; `false`: the sweeper will start
   * it.
   */
  startTaskWithin(task: TaskToRun, waitMs: number, origin?: Origin): Promise<boolean>;
  /** Makes sure that the sweeper is scheduled, and running soon. Safe to repeat. */
  ensureSweepSchedule(): Promise<void>;
  /** Whether Temporal answers within `waitMs`. */
  isReachable(waitMs: number): Promise<boolean>;
  close(): Promise<void>;
}

export interface TaskWorkflowsSettings extends TemporalSettings {
  taskDeadlineSeconds: number;
}

const CANCEL_CALL_LIMIT_MS = 1_000;

/** Connects when first used, so that a Temporal that is away does not stop reads. */
export function connectTaskWorkflows(settings: TaskWorkflowsSettings): TaskWorkflows {
  const temporal = connectTemporal(settings);
  const { client, connection, within } = temporal;
  const deadlineSeconds = settings.taskDeadlineSeconds;
  return {
    startTaskWithin: (task, waitMs, origin) =>
      startTaskWithin(temporal, { task, deadlineSeconds, origin }, waitMs),
    startTask: (task) => startTask(temporal, { task, deadlineSeconds }),
    cancelTask: (task, waitMs) => cancelTask(temporal, task, waitMs),
    describeTask: (task) => describeTask(temporal, task),
    listRunning: (waitMs) => listRunning(temporal, waitMs),
    startWebhook: (webhook) => startWebhook(temporal, webhook),
    ensureSweepSchedule: () => ensureSweepSchedule(client),
    isReachable: (waitMs) =>
      within(waitMs, () => connection.workflowService.getSystemInfo({})).then(
        () => true,
        () => false,
      ),
    close: () => temporal.close(),
  };
}

async function cancelTask(
  temporal: Temporal,
  { id, attempt }: RunToCancel,
  waitMs: number,
): Promise<TaskRunState | 'unreachable'> {
  const { client, within } = temporal;
  const deadlineAt = Date.now() + waitMs;
  const newest = client.workflow.getHandle(workflowIdOf(id));
  let run: WorkflowHandle | null;
  try {
    run = await within(Math.max(waitMs, CANCEL_CALL_LIMIT_MS), async () => {
      if (attempt !== null) return cancelRunning(temporal, { id, attempt });
      await newest.cancel();
      return newest;
    });
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? 'unknown' : 'unreachable';
  }
  if (run === null) return 'closed';
  if (waitMs === 0) return 'running';
  const cancelled = run;
  try {
    await within(Math.max(1, deadlineAt - Date.now()), () => cancelled.result());
    return 'closed';
  } catch (error) {
    return error instanceof WorkflowFailedError ? 'closed' : 'running';
  }
}

async function describeTask(temporal: Temporal, attempt: TaskRun): Promise<TaskRunState> {
  try {
    const found = await temporal.within(CALL_LIMIT_MS, () => findRunning(temporal, attempt));
    return found === null ? 'closed' : 'running';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}

type TaskRun = Pick<TaskToRun, 'id' | 'attempt'>;

/**
 * Cancels the attempt in the run that is its newest when Temporal hears of it: the one found may have gone on
 * in a new run, and Temporal accepts the cancellation of a closed run without effect. Answers the run found;
 * null and errors are those of `findRunning`.
 */
async function cancelRunning(temporal: Temporal, attempt: TaskRun): Promise<WorkflowHandle | null> {
  const found = await findRunning(temporal, attempt);
  try {
    await found?.newest.cancel();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null; // the newest run is that of a retry by now
    throw error;
  }
  return found && found.run;
}

/**
 * The attempt's run, and a handle of the newest of the runs in which it goes on, never of another attempt;
 * null when it has closed, also when the newest run is that of another attempt. Throws WorkflowNotFoundError
 * when Temporal has no run of the task.
 */
async function findRunning(
  { client }: Temporal,
  { id, attempt }: TaskRun,
): Promise<{ run: WorkflowHandle; newest: WorkflowHandle } | null> {
  const { workflow } = client;
  const workflowId = workflowIdOf(id);
  const { status, runId, typedSearchAttributes, raw } = await workflow.getHandle(workflowId).describe();
  const isOfAttempt = typedSearchAttributes.get(SEARCH_ATTRIBUTES.attempt) === attempt;
  if (status.name !== 'RUNNING' || !isOfAttempt) return null;
  const firstExecutionRunId = raw.workflowExecutionInfo?.firstRunId || runId;
  return {
    run: workflow.getHandle(workflowId, runId),
    newest: workflow.getHandle(workflowId, undefined, { firstExecutionRunId }),
  };
}

async function listRunning({ client, within }: Temporal, waitMs: number): Promise<string[]> {
  const query = `WorkflowType = 'generate' and ExecutionStatus = 'Running'`;
  return within(waitMs, async () => {
    const taskIds: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) taskIds.push(taskIdOf(workflowId));
    return taskIds;
  });
}
