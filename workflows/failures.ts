// From what an activity threw to the code a task fails with, and the words operators read.
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { isTaskFailureCode, TASK_FAILURES, type TaskFailureCode } from '../domain/failures.ts';

/** Activities name the code as the failure's type; a time-out that passed the deadline has one of its own. */
export function failureCodeOf(error: unknown): TaskFailureCode {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const isStoring = error instanceof ActivityFailure && error.activityType === 'store';
  if (cause instanceof TimeoutFailure) return isStoring ? 'result_unavailable' : 'upstream_timeout';
  if (cause instanceof ApplicationFailure && cause.type && isTaskFailureCode(cause.type)) return cause.type;
  return 'internal_error';
}

export function sentenceOf(code: TaskFailureCode): string {
  return TASK_FAILURES[code];
}
