// Starting the workflow of a task, with or without waiting for the verdict of its estimate and reserve.
import {
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure, type Workflow } from '@temporalio/common';
import { isTaskFailureCode, type TaskFailureCode } from '../../domain/failures.ts';
import type { TaskToRun } from '../../domain/task-runs.ts';
import {
  admitUpdateIdOf,
  GENERATION_QUEUE,
  SEARCH_ATTRIBUTES,
  workflowIdOf,
  type Admission,
  type GenerateInput,
} from '../names.ts';
import { CALL_LIMIT_MS, type Temporal } from './temporal.ts';

/** Which request brought a task, for operators: it stands in the memo of the workflow. */
export interface Origin {
  requestId: string;
}

export type AdmissionVerdict =
  | { kind: 'admitted' }
  | { kind: 'refused'; code: TaskFailureCode | 'task_cancelled' }
  /** Temporal is slow or away; the task starts when it is back. */
  | { kind: 'pending' };

/** Between tries while the previous run of a retried task is still closing. */
const CLOSING_PAUSE_MS = 50;
/** gRPC's code; an update-with-start reports the conflict this way. */
const GRPC_ALREADY_EXISTS = 6;

export type StartTask = { task: TaskToRun; deadlineSeconds: number; origin?: Origin | undefined };

/** Starts the task and waits, at most `waitMs`, for the verdict of its estimate and reserve. Never throws. */
export async function admitTask(
  temporal: Temporal,
  start: StartTask,
  waitMs: number,
): Promise<AdmissionVerdict> {
  const deadlineAt = Date.now() + waitMs;
  for (;;) {
    try {
      await temporal.within(deadlineAt - Date.now(), () => startAndAsk(temporal, start));
      return { kind: 'admitted' };
    } catch (error) {
      if (error instanceof WorkflowUpdateFailedError) return readRefusal(error);
      const closing = isAlreadyStarted(error) && Date.now() + CLOSING_PAUSE_MS < deadlineAt;
      if (!closing) return { kind: 'pending' };
      await new Promise((resolve) => setTimeout(resolve, CLOSING_PAUSE_MS));
    }
  }
}

/** Starts the task without waiting; `false` when the previous run of the same task is still closing. */
export async function startTask({ client, within }: Temporal, start: StartTask): Promise<boolean> {
  try {
    await within(CALL_LIMIT_MS, () => client.workflow.start('generate', startOptionsOf(start)));
    return true;
  } catch (error) {
    // The first attempt's run exists, or has already ended: nothing is left to start.
    if (isAlreadyStarted(error)) return start.task.attempt === 1;
    throw error;
  }
}

async function startAndAsk({ client }: Temporal, start: StartTask): Promise<Admission> {
  const startWorkflowOperation = new WithStartWorkflowOperation('generate', startOptionsOf(start));
  return client.workflow.executeUpdateWithStart<Workflow, Admission, []>('admit', {
    updateId: admitUpdateIdOf({ taskId: start.task.id, attempt: start.task.attempt }),
    startWorkflowOperation,
  });
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
  // is still closing, so it conflicts instead; after a completed task nothing may run again.
  const policies =
    task.attempt === 1
      ? ({ workflowIdReusePolicy: 'REJECT_DUPLICATE', workflowIdConflictPolicy: 'USE_EXISTING' } as const)
      : ({
          workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
          workflowIdConflictPolicy: 'FAIL',
        } as const);
  return {
    ...policies,
    workflowId: workflowIdOf(task.id),
    taskQueue: GENERATION_QUEUE,
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

function readRefusal(error: WorkflowUpdateFailedError): AdmissionVerdict {
  const type = error.cause instanceof ApplicationFailure ? (error.cause.type ?? '') : '';
  if (type === 'task_cancelled') return { kind: 'refused', code: 'task_cancelled' };
  return { kind: 'refused', code: isTaskFailureCode(type) ? type : 'internal_error' };
}

function isAlreadyStarted(error: unknown): boolean {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
  if (!isGrpcServiceError(error)) return false;
  const code: number = error.code;
  return code === GRPC_ALREADY_EXISTS;
}
