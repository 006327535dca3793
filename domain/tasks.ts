// Task statuses and the transitions between them: the same for every kind of task and every endpoint.

export const TASK_MODES = ['text', 'image', 'video'] as const;
export type TaskMode = (typeof TASK_MODES)[number];

export const TASK_STATUSES = ['queued', 'in_progress', 'completed', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

const NEXT: Record<TaskStatus, readonly TaskStatus[]> = {
  queued: ['in_progress', 'failed', 'cancelled'],
  in_progress: ['completed', 'failed', 'cancelled'],
  completed: [],
  failed: ['queued'], // a retry, and only that
  cancelled: [],
};

/** Statuses in which work may still happen. */
const OPEN_STATUSES: readonly TaskStatus[] = ['queued', 'in_progress'];

/** The events of a task's timeline, as its owner reads them. */
export const TASK_EVENTS = [
  'created',
  'reserved',
  'started',
  'submitting',
  'submit_retried',
  'submitted',
  'stored',
  'completed',
  'failed',
  'cancel_requested',
  'cancelled',
  'retried',
] as const;
export type TaskEvent = (typeof TASK_EVENTS)[number];

/**
 * Whether a task may change from one status to the other. A trigger of the database enforces the same table.
 */
export function mayFollow(from: TaskStatus, to: TaskStatus): boolean {
  return NEXT[from].includes(to);
}

export function isFinal(status: TaskStatus): boolean {
  return !OPEN_STATUSES.includes(status);
}

/** Names one attempt of one task; every effect of a run is keyed by it, never by a run id. */
export interface TaskAttempt {
  taskId: string;
  attempt: number;
}
