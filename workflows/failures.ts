// Turns what an activity threw into the code a task fails with, and its sentence for operators.
import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { isTaskFailureCode, TASK_FAILURES, type TaskFailureCode } from '../domain/failures.ts';

/** The code is the type of the failure; a time-out has one by the activity that it ended. */
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
