// Temporal as an operator sees and handles it: runs, their status and histories, the sweeper by hand.
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { createActivities, type Activities } from '../../../activities/index.ts';
import { connectTaskWorkflows, type TaskWorkflows } from '../../../workflows/client.ts';
import { workflowIdOf } from '../../../workflows/names.ts';
import { dependenciesOf } from './activity-dependencies.ts';
import type { TestGateway } from './gateway.ts';
import { until } from '../until.ts';

export interface Run {
  workflowId: string;
  runId: string;
  status: string;
}

export interface TestEngine {
  client: Client;
  namespace: string;
  handleOf(taskId: string): WorkflowHandle;
  /**
   * The newest run's status as the UI words it in capitals: RUNNING, COMPLETED, FAILED, CANCELLED,
   * TERMINATED.
   */
  statusOf(taskId: string): Promise<string>;
  untilClosed(taskId: string, limitMs?: number): Promise<string>;
  /** All runs under the task's workflow id, newest first, from the visibility store. */
  runsOf(taskId: string): Promise<Run[]>;
  /**
   * Resets a run, by default the newest, as `temporal workflow reset` does: the new run keeps the history up
   * to the n-th workflow task. Resolves to the new run's id.
   */
  reset(taskId: string, workflowTask: number, runId?: string): Promise<string>;
  close(): Promise<void>;
}

export async function openEngine(gateway: TestGateway): Promise<TestEngine> {
  const { connectionOptions, namespace } = gateway.config.temporal;
  const connection = await Connection.connect(connectionOptions);
  const client = new Client({ connection, namespace });
  const handleOf = (taskId: string) => client.workflow.getHandle(workflowIdOf(taskId));
  const statusOf = async (taskId: string): Promise<string> => (await handleOf(taskId).describe()).status.name;
  return {
    client,
    namespace,
    handleOf,
    statusOf,
    untilClosed: (taskId, limitMs) =>
      until(
        `the workflow of ${taskId} has ended`,
        async () => {
          const status = await statusOf(taskId);
          return status !== 'RUNNING' && status;
        },
        limitMs,
      ),
    runsOf: async (taskId) => {
      const runs: Run[] = [];
      for await (const { workflowId, runId, status } of client.workflow.list({
        query: `WorkflowId = '${workflowIdOf(taskId)}'`,
      }))
        runs.push({ workflowId, runId, status: status.name });
      return runs;
    },
    reset: async (taskId, workflowTask, ofRun) => {
      const workflowId = workflowIdOf(taskId);
      const runId = ofRun ?? (await handleOf(taskId).describe()).runId;
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      const point = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes)[
        workflowTask
      ];
      if (!point?.eventId) throw new Error(`the run of ${taskId} has no workflow task ${workflowTask}`);
      const answer = await client.workflowService.resetWorkflowExecution({
        namespace,
        workflowExecution: { workflowId, runId },
        workflowTaskFinishEventId: point.eventId,
        requestId: `${runId}:${workflowTask}`,
        reason: 'a drill',
      });
      return answer.runId;
    },
    close: () => connection.close(),
  };
}

/** Events of the newest run, as `temporal workflow show --output json` writes them. */
export async function readHistory(engine: TestEngine, taskId: string): Promise<HistoryJson> {
  return readHistoryOf(engine.handleOf(taskId));
}

/** The same of any run. */
export async function readHistoryOf(run: WorkflowHandle): Promise<HistoryJson> {
  return toJson(await run.fetchHistory());
}

export interface HistoryEvent {
  eventId: string;
  eventType: string;
  [attributes: string]: unknown;
}

export interface HistoryJson {
  events: HistoryEvent[];
}

function toJson(history: Parameters<typeof historyToJSON>[0]): HistoryJson {
  return JSON.parse(historyToJSON(history)) as HistoryJson;
}

/** Number of points that a run can be reset to. */
export function countWorkflowTasks({ events }: HistoryJson): number {
  return events.filter(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED').length;
}

/**
 * Cancels the first attempt as the gateway does, with a step after its run was found and before it is asked
 * to stop. Waits up to 30 seconds for its end.
 */
export async function cancelAfter(
  { config }: TestGateway,
  taskId: string,
  step: () => Promise<void>,
): ReturnType<TaskWorkflows['cancelTask']> {
  const taskWorkflows = connectTaskWorkflows({
    ...config.temporal,
    taskDeadlineSeconds: config.taskDeadlineSeconds,
    interceptor: {
      cancel: async (input, next) => {
        await step();
        return next(input);
      },
    },
  });
  const state = await taskWorkflows.cancelTask({ id: taskId, attempt: 1 }, 30_000);
  await taskWorkflows.close();
  return state;
}

/** The activities as the worker has them, to run the sweeper without waiting for its schedule. */
export function activitiesOf({ config, services }: TestGateway): Activities {
  return createActivities(dependenciesOf(config, services));
}

/** Dates every open task back by a minute, so that it is due for the sweeper. */
export async function ageOpenTasks(gateway: TestGateway): Promise<void> {
  await gateway.em().execute(`
    update task set updated_at = updated_at - interval '1 minute', swept_at = null,
      cancel_requested_at = cancel_requested_at - interval '1 minute'
    where status in ('queued', 'in_progress')`);
}

/** Runs the sweeper once, with every open task due. */
export async function sweepNow(gateway: TestGateway): Promise<{ started: number; settled: number }> {
  await ageOpenTasks(gateway);
  return activitiesOf(gateway).sweepTasks();
}
