// How activities fail: our code as type and our own sentence, never with a vendor's or a driver's words.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { withoutEcho } from '../domain/masking/echo.ts';
import {
  failureOf,
  ownerMayRead,
  TASK_FAILURES,
  type TaskFailureCode,
  type UpstreamErrorClass,
} from '../domain/failures.ts';
import { maskErrorText } from '../domain/masking/masking.ts';

/** The shortest delay that Temporal heeds: zero counts as “no delay given” (measured on server 1.5). */
const RETRY_DELAY_MS_MIN = 10;

/** Ends the attempt: the workflow records this code. */
export function failTaskWith(code: TaskFailureCode): ApplicationFailure {
  return ApplicationFailure.create({
    message: TASK_FAILURES[code],
    type: code,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN, // a task's failure is an outcome, not an alarm
  });
}

/** For trouble that may pass: Temporal tries again, after `waitMs` if the vendor asked for it. */
export function retryLater(code: TaskFailureCode, waitMs: number | null = null): ApplicationFailure {
  const delay = waitMs === null ? {} : { nextRetryDelay: Math.max(waitMs, RETRY_DELAY_MS_MIN) };
  return ApplicationFailure.create({
    message: TASK_FAILURES[code],
    type: code,
    nonRetryable: false,
    ...delay,
  });
}

/** What is kept of a vendor's failure: our code, and the vendor's words where the owner may read them. */
export function describeUpstreamFailure(
  errorClass: UpstreamErrorClass,
  text: string | null,
  prompt: string,
): { code: TaskFailureCode; errorText: string | null } {
  const readable = text !== null && ownerMayRead(errorClass) ? maskErrorText(withoutEcho(text, prompt)) : '';
  return { code: failureOf(errorClass), errorText: readable === '' ? null : readable };
}
