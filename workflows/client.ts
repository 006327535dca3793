// The one file that starts, admits, cancels and looks at workflows: called by the API and by the sweeper's activity.
import {
  Client,
  Connection,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  type ConnectionOptions,
  type ScheduleOptions,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { ApplicationFailure, type Workflow } from '@temporalio/common';
import { isTaskFailureCode, type TaskFailureCode } from '../domain/failures.ts';
import type { TaskMode } from '../domain/tasks.ts';
import {
  admitUpdateIdOf,
  GENERATION_QUEUE,
  SEARCH_ATTRIBUTES,
  SWEEP_SCHEDULE_ID,
  workflowIdOf,
  type Admission,
  type GenerateInput,
} from './names.ts';

/** What the engine needs to know of a task; a row of the task log has all of it. */
export interface TaskToRun {
  id: string;
  attempt: number;
  mode: TaskMode;
  model: string;
  family: string;
  userId: string;
}

/** Which request brought a task, for operators: it stands in the memo of the workflow. */
export interface Origin {
  requestId: string;
}

export type AdmissionVerdict =
  | { kind: 'admitted' }
  | { kind: 'refused'; code: TaskFailureCode | 'task_cancelled' }
  /** The engine is slow or away; the task starts when it is back. */
  | { kind: 'pending' };

export interface TaskWorkflows {
  /** Starts the task and waits, at most `waitMs`, for the verdict of its estimate and reserve. Never throws. */
  admitTask(task: TaskToRun, waitMs: number, origin?: Origin): Promise<AdmissionVerdict>;
  /** Starts the task without waiting; `false` when the previous run of the same task is still closing. */
  startTask(task: TaskToRun): Promise<boolean>;
  /** Asks the workflow to stop and waits, at most `waitMs` (0: not at all), for its end. Never throws. */
  cancelTask(taskId: string, waitMs: number): Promise<'closed' | 'running' | 'unknown' | 'unreachable'>;
  describeTask(taskId: string): Promise<'running' | 'closed' | 'unknown'>;
  /** Makes sure that the sweeper is scheduled, and running soon. Safe to repeat. */
  ensureSweepSchedule(): Promise<void>;
  /** Whether the engine answers within `waitMs`. */
  isReachable(waitMs: number): Promise<boolean>;
  close(): Promise<void>;
}

export interface TaskWorkflowsSettings {
  connectionOptions: ConnectionOptions;
  namespace: string;
  taskDeadlineSeconds: number;
  /** Passes the trace on to the workflow. */
  interceptor?: WorkflowClientInterceptor | undefined;
}

/** A run lasts an hour and skips later starts; when one was lost, the next minute brings another. */
const SWEEP_SCHEDULE: Pick<ScheduleOptions, 'spec' | 'policies' | 'action'> & {
  action: { workflowId: string };
} = {
  spec: { intervals: [{ every: '1m' }] },
  policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '1m' },
  action: {
    type: 'startWorkflow',
    workflowType: 'sweep',
    workflowId: SWEEP_SCHEDULE_ID,
    taskQueue: GENERATION_QUEUE,
    args: [],
    workflowExecutionTimeout: '2h',
  },
};

/** How long a single call to the engine may take where nobody waits for it. */
const CALL_LIMIT_MS = 10_000;
const CANCEL_CALL_LIMIT_MS = 1_000;
/** Between tries while the previous run of a retried task is still closing. */
const CLOSING_PAUSE_MS = 50;

/** Connects when first used, so that an engine that is away does not stop reads. */
export function connectTaskWorkflows(settings: TaskWorkflowsSettings): TaskWorkflows {
  const connection = Connection.lazy({ connectTimeout: 2_000, ...settings.connectionOptions });
  const interceptors = settings.interceptor ? { workflow: [settings.interceptor] } : {};
  const client = new Client({ connection, namespace: settings.namespace, interceptors });

  const within = <Result>(waitMs: number, call: () => Promise<Result>): Promise<Result> => {
    // The connection's own deadline does not cover the time it takes to connect: the race does.
    return rejectAfter(waitMs, connection.withDeadline(Date.now() + waitMs, call));
  };

  async function admitTask(task: TaskToRun, waitMs: number, origin?: Origin): Promise<AdmissionVerdict> {
    const deadlineAt = Date.now() + waitMs;
    for (;;) {
      try {
        await within(deadlineAt - Date.now(), () => startAndAsk(task, origin));
        return { kind: 'admitted' };
      } catch (error) {
        if (error instanceof WorkflowUpdateFailedError) return readRefusal(error);
        const closing = isAlreadyStarted(error) && Date.now() + CLOSING_PAUSE_MS < deadlineAt;
        if (!closing) return { kind: 'pending' };
        await new Promise((resolve) => setTimeout(resolve, CLOSING_PAUSE_MS));
      }
    }
  }

  async function startAndAsk(task: TaskToRun, origin?: Origin): Promise<Admission> {
    const startWorkflowOperation = new WithStartWorkflowOperation('generate', startOptions(task, origin));
    return client.workflow.executeUpdateWithStart<Workflow, Admission, []>('admit', {
      updateId: admitUpdateIdOf({ taskId: task.id, attempt: task.attempt }),
      startWorkflowOperation,
    });
  }

  async function startTask(task: TaskToRun): Promise<boolean> {
    try {
      await within(CALL_LIMIT_MS, () => client.workflow.start('generate', startOptions(task)));
      return true;
    } catch (error) {
      // The first attempt's run exists, or has already ended: nothing is left to start.
      if (isAlreadyStarted(error)) return task.attempt === 1;
      throw error;
    }
  }

  function startOptions(task: TaskToRun, origin?: Origin) {
    const input: GenerateInput = {
      taskId: task.id,
      attempt: task.attempt,
      mode: task.mode,
      model: task.model,
      provider: task.family,
      userId: task.userId,
      deadlineSeconds: settings.taskDeadlineSeconds,
    };
    // A first attempt may be started by the API and the sweeper at once. A retry must not attach to a run that is
    // still closing, so it conflicts instead; after a completed task nothing may run again.
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

  async function cancelTask(
    taskId: string,
    waitMs: number,
  ): Promise<'closed' | 'running' | 'unknown' | 'unreachable'> {
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

  async function describeTask(taskId: string): Promise<'running' | 'closed' | 'unknown'> {
    try {
      const handle = client.workflow.getHandle(workflowIdOf(taskId));
      const description = await within(CALL_LIMIT_MS, () => handle.describe());
      return description.status.name === 'RUNNING' ? 'running' : 'closed';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'unknown';
      throw error;
    }
  }

  async function ensureSweepSchedule(): Promise<void> {
    try {
      const schedule = await client.schedule.create({ scheduleId: SWEEP_SCHEDULE_ID, ...SWEEP_SCHEDULE });
      // Asked for in the creation itself, the first run would not count as running, and the next minute bring a second.
      await schedule.trigger(ScheduleOverlapPolicy.SKIP);
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      await client.schedule
        .getHandle(SWEEP_SCHEDULE_ID)
        .update((current) => ({ ...current, ...SWEEP_SCHEDULE }));
    }
  }

  return {
    admitTask,
    startTask,
    cancelTask,
    describeTask,
    ensureSweepSchedule,
    isReachable: (waitMs) =>
      within(waitMs, () => connection.workflowService.getSystemInfo({})).then(
        () => true,
        () => false,
      ),
    close: () => connection.close(),
  };
}

function readRefusal(error: WorkflowUpdateFailedError): AdmissionVerdict {
  const type = error.cause instanceof ApplicationFailure ? (error.cause.type ?? '') : '';
  if (type === 'task_cancelled') return { kind: 'refused', code: 'task_cancelled' };
  return { kind: 'refused', code: isTaskFailureCode(type) ? type : 'internal_error' };
}

function isAlreadyStarted(error: unknown): boolean {
  const ALREADY_EXISTS = 6; // gRPC's code; an update-with-start reports the conflict this way
  if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
  if (!isGrpcServiceError(error)) return false;
  const code: number = error.code;
  return code === ALREADY_EXISTS;
}

async function rejectAfter<Result>(waitMs: number, call: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the engine did not answer in time')), waitMs);
  });
  try {
    return await Promise.race([call, late]);
  } finally {
    clearTimeout(timer);
    call.catch(() => undefined); // it may still fail after the race is lost; nobody waits for that any more
  }
}
