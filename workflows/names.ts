// Names shared by Temporal's client, workflows and workers: queues, ids, search attributes.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { TaskAttempt, TaskMode } from '../domain/tasks.ts';

/**
 * Workflows, and handing work over to vendors: a worker begins that with the answer that asks for it, without
 * a way through the server. With some vendors it takes as long as the work, so nothing else is done here.
 */
export const GENERATION_QUEUE = 'generation';
/** The activities that must happen soon, and wait for no vendor: failures, cancellations, sweeps. */
export const SOON_QUEUE = 'generation-soon';
/** Where runs that an earlier release began hand their work over. */
export const EARLIER_HAND_OVER_QUEUE = 'generation-submit';
/** Copying results, which takes as long as a vendor's download. */
export const STORE_QUEUE = 'generation-store';
/** Waiting for vendors' jobs, thousands at a time. */
export const POLL_QUEUE = 'generation-poll';
/** Asking vendors to stop jobs: a caller waits for it, so that it waits behind no job. */
export const WITHDRAW_QUEUE = 'generation-withdraw';

/** Deliveries of webhooks, runs and attempts: however many there are, no task waits behind them. */
export const WEBHOOK_QUEUE = 'webhooks';

export const SWEEP_SCHEDULE_ID = 'sweep';

export const SEARCH_ATTRIBUTES = {
  taskStatus: defineSearchAttributeKey('TaskStatus', SearchAttributeType.KEYWORD),
  mode: defineSearchAttributeKey('Mode', SearchAttributeType.KEYWORD),
  model: defineSearchAttributeKey('Model', SearchAttributeType.KEYWORD),
  provider: defineSearchAttributeKey('Provider', SearchAttributeType.KEYWORD),
  userId: defineSearchAttributeKey('UserId', SearchAttributeType.KEYWORD),
  attempt: defineSearchAttributeKey('Attempt', SearchAttributeType.INT),
};

/** What a task's workflow starts with: ids and small scalars, because histories can be read. */
export interface GenerateInput extends TaskAttempt {
  mode: TaskMode;
  model: string;
  provider: string;
  userId: string;
  /** How long the vendor may work on it, from the submission on. */
  deadlineSeconds: number;
}

const TASK_PREFIX = 'task-';

/** The workflow id is the same for all attempts, so that a task id is enough to find the workflow. */
export function workflowIdOf(taskId: string): string {
  return `${TASK_PREFIX}${taskId}`;
}

/** The task of a workflow id that `workflowIdOf` made. */
export function taskIdOf(workflowId: string): string {
  return workflowId.slice(TASK_PREFIX.length);
}

/** What the run of a delivery starts with. */
export interface DeliverWebhookInput {
  deliveryId: string;
}

/** Each delivery has a run of its own; sending again is another delivery. */
export function webhookWorkflowIdOf(deliveryId: string): string {
  return `webhook-${deliveryId}`;
}
