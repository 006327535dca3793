// Error codes and headers of routes that take an order, the same on each of them.
import type { ErrorCode } from '../../../domain/errors.ts';

/** Errors of an order, the same on every route that takes one. */
export const ORDER_REFUSALS = [
  'prompt_too_long',
  'conflicting_params',
  'model_not_supported',
  'url_not_allowed',
  'invalid_image',
  'model_not_found',
] as const satisfies ErrorCode[];
/** Errors of creating a task. */
export const CREATION_REFUSALS = [
  ...ORDER_REFUSALS,
  'insufficient_credits',
  'queue_full',
] as const satisfies ErrorCode[];
/** Further errors of creating a task with an API key, which has limits of its own. */
export const KEY_REFUSALS = [
  'model_not_allowed',
  'key_quota_exceeded',
  'daily_budget_exceeded',
] as const satisfies ErrorCode[];

/**
 * Errors of a task that failed while its creation waited. Those of its key and its credits can only come when
 * they changed in between.
 */
export const WAITED_REFUSALS = [
  'account_disabled',
  'insufficient_credits',
  'content_rejected',
  'upstream_rejected',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_rate_limited',
  'upstream_timeout',
  'upstream_outcome_unknown',
  'result_unavailable',
  'task_cancelled',
] as const satisfies ErrorCode[];

export const accepted = { location: 'always', 'retry-after': 'always' } as const;
