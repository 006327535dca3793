// Why a task failed: the codes and sentences that its owner reads, and how an upstream's error class maps to
// them.

/** Every `errorCode` of a failed task with the sentence that begins its `errorMessage`. */
export const TASK_FAILURES = {
  insufficient_credits: 'The account had too few available credits when the task was admitted.',
  account_disabled: 'The account was disabled before the task began.',
  invalid_api_key: 'The API key was revoked before the task began.',
  expired_api_key: 'The API key expired before the task began.',
  model_not_allowed: 'The API key may not use this model.',
  key_quota_exceeded: 'The API key’s quota did not cover the task.',
  daily_budget_exceeded: 'The API key’s budget for the day did not cover the task.',
  queue_full: 'The task waited too long for one of the slots for running tasks.',
  model_not_found: 'The model is no longer offered.',
  content_rejected: 'The provider refused this content.',
  upstream_rejected: 'The provider refused this request.',
  upstream_error: 'The provider could not do this.',
  upstream_invalid_response: 'The provider gave an answer that makes no sense.',
  upstream_rate_limited: 'The provider stayed overloaded until the deadline.',
  upstream_timeout: 'The provider did not finish before the deadline.',
  upstream_outcome_unknown:
    'No clear answer from the provider reached us when the work was handed over. It is not known whether it was done; you are not charged.',
  result_unavailable: 'The provider finished, but its result could not be fetched.',
  url_not_allowed: 'An input URL cannot be used.',
  invalid_image: 'An input image could not be read.',
  internal_error: 'Something went wrong on our side.',
} as const;

export type TaskFailureCode = keyof typeof TASK_FAILURES;

/** What went wrong at a vendor. Every adapter maps its vendor's codes to these classes. */
export const UPSTREAM_ERROR_CLASSES = [
  'auth', // our credential is refused
  'quota', // our account at the vendor is out of money or quota
  'rate', // too many requests
  'concurrency', // too many jobs at once
  'invalid', // the vendor calls the request wrong
  'input_refused', // an input's URL cannot be fetched, and nothing was sent to the vendor
  'input_unreadable', // an input is not what it should be, and nothing was sent to the vendor
  'model_retired',
  'moderation',
  'transient', // the vendor's own trouble
  'expired', // the job or its result is gone
  'invalid_response', // an answer that cannot be understood
] as const;
export type UpstreamErrorClass = (typeof UPSTREAM_ERROR_CLASSES)[number];

const FAILURE_OF_CLASS = {
  auth: 'upstream_error', // our credentials are not the caller's business
  quota: 'upstream_error',
  rate: 'upstream_rate_limited',
  concurrency: 'upstream_rate_limited',
  invalid: 'upstream_rejected',
  input_refused: 'url_not_allowed',
  input_unreadable: 'invalid_image',
  model_retired: 'upstream_error',
  moderation: 'content_rejected',
  transient: 'upstream_error',
  expired: 'upstream_error',
  invalid_response: 'upstream_invalid_response',
} as const satisfies Record<UpstreamErrorClass, TaskFailureCode>;

/**
 * The code a task fails with, or a chat call is refused with, when its vendor reports an error of this class.
 */
export function failureOf(errorClass: UpstreamErrorClass): (typeof FAILURE_OF_CLASS)[UpstreamErrorClass] {
  return FAILURE_OF_CLASS[errorClass];
}

/**
 * Whether the owner may read the vendor's text. Texts about our own account at the vendor must not reach
 * owners.
 */
export function ownerMayRead(errorClass: UpstreamErrorClass): boolean {
  return errorClass !== 'auth' && errorClass !== 'quota';
}

export function isTaskFailureCode(code: string): code is TaskFailureCode {
  return Object.hasOwn(TASK_FAILURES, code);
}
