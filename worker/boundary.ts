// The boundary around every activity: what reaches Temporal's history is always one of our own sentences.
import { activityInfo, CompleteAsyncError } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { TASK_FAILURES } from '../domain/failures.ts';
import type { Log } from '../log.ts';

/**
 * Passes on failures that were made for the history. Everything else (a driver's error with its statement, a
 * bug) is logged, masked, and becomes a fixed sentence that Temporal retries.
 */
export function createBoundary(log: Log): ActivityInboundCallsInterceptor {
  return {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        if (error instanceof ApplicationFailure || isControl(error)) throw error;
        log.error(
          { err: error, activity: activityInfo().activityType },
          'an activity broke and is tried again',
        );
        throw ApplicationFailure.retryable(TASK_FAILURES.internal_error, 'internal_error');
      }
    },
  };
}

function isControl(error: unknown): boolean {
  return error instanceof CancelledFailure || error instanceof CompleteAsyncError;
}
