// Names shared by Temporal's client, workflows and workers: queues, ids, search attributes.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { TaskAttempt, TaskMode } from '../domain/tasks.ts';

/** Workflows, and activities that are short or hold no slot for long. */
export const GENERATION_QUEUE = 'generation';
/** Activities that wait for vendors, thousands at a time, so that waiting never starves charging. */
export const POLL_QUEUE = 'generation-poll';

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

/** The answer of the `admit` update. */
export interface Admission {
  /** Micro-credits that are set aside, as a string. */
  creditsReserved: string;
}

/** The workflow id is the same for all attempts, so that a task id is enough to find the workflow. */
export function workflowIdOf(taskId: string): string {
  return `task-${taskId}`;
}

/** The update id: an update that is sent again for the same attempt runs once. */
export function admitUpdateIdOf(task: TaskAttempt): string {
  return `${task.taskId}:${task.attempt}`;
}
