// Starts, cancels and looks at workflows: the one way to them, for the API and for the sweeper's activity.
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import type { TaskRuns, TaskRunState, TaskToRun } from '../domain/task-runs.ts';
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
/** Many pages where thousands run. */
const LIST_LIMIT_MS = 120_000;

/** Connects when first used, so that a Temporal that is away does not stop reads. */
export function connectTaskWorkflows(settings: TaskWorkflowsSettings): TaskWorkflows {
  const temporal = connectTemporal(settings);
  const { client, connection, within } = temporal;
  const deadlineSeconds = settings.taskDeadlineSeconds;
  return {
    startTaskWithin: (task, waitMs, origin) =>
      startTaskWithin(temporal, { task, deadlineSeconds, origin }, waitMs),
    startTask: (task) => startTask(temporal, { task, deadlineSeconds }),
    cancelTask: (taskId, waitMs) => cancelTask(temporal, taskId, waitMs),
    describeTask: (task) => describeTask(temporal, task),
    listRunning: () => listRunning(temporal),
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
  { client, within }: Temporal,
  taskId: string,
  waitMs: number,
): Promise<TaskRunState | 'unreachable'> {
  const deadlineAt = Date.now() + waitMs;
  const handle = client.workflow.getHandle(workflowIdOf(taskId));
  try {
    await within(Math.max(waitMs, CANCEL_CALL_LIMIT_MS), () => handle.cancel());
  } catch (error) {
    return error instanceof WorkflowNotFoundError ? 'unknown' : 'unreachable';
  }
  if (waitMs === 0) return 'running';
  try {
    await within(Math.max(1, deadlineAt - Date.now()), () => handle.result());
    return 'closed';
  } catch (error) {
    return error instanceof WorkflowFailedError ? 'closed' : 'running';
  }
}

async function describeTask(
  { client, within }: Temporal,
  { id, attempt }: Pick<TaskToRun, 'id' | 'attempt'>,
): Promise<TaskRunState> {
  try {
    const handle = client.workflow.getHandle(workflowIdOf(id));
    const { status, typedSearchAttributes } = await within(CALL_LIMIT_MS, () => handle.describe());
    const isOfAttempt = typedSearchAttributes.get(SEARCH_ATTRIBUTES.attempt) === attempt;
    return status.name === 'RUNNING' && isOfAttempt ? 'running' : 'closed';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'unknown';
    throw error;
  }
}

async function listRunning({ client, within }: Temporal): Promise<string[]> {
  const query = `WorkflowType = 'generate' and ExecutionStatus = 'Running'`;
  return within(LIST_LIMIT_MS, async () => {
    const taskIds: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query })) taskIds.push(taskIdOf(workflowId));
    return taskIds;
  });
}
