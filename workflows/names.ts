// Names that the engine's client, its workflows and its workers share: queues, ids, search attributes.
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { TaskAttempt, TaskMode } from '../domain/tasks.ts';

/** Workflows, and activities that are short or hold no place for long. */
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

/**
 * What a task's workflow starts with: ids and small scalars, because everything here is readable in the
 * history.
 */
export interface GenerateInput extends TaskAttempt {
  mode: TaskMode;
  model: string;
  provider: string;
  userId: string;
  /** How long an upstream may work on it, from the start of the work. */
  deadlineSeconds: number;
}

/** The answer to the `admit` update. */
export interface Admission {
  /** Micro-credits that are set aside, as a text. */
  creditsReserved: string;
}

/** One workflow id per task, whatever the attempt: whoever knows the task finds its workflow. */
export function workflowIdOf(taskId: string): string {
  return `task-${taskId}`;
}

/** The same update for the same attempt is answered once, however often it is sent. */
export function admitUpdateIdOf(task: TaskAttempt): string {
  return `${task.taskId}:${task.attempt}`;
}
