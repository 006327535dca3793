// The error catalogue: every code a caller can see, with its status, its type and its public sentence.

/** The `type` of an error body; clients group by it. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'rate_limit_error'
  | 'server_error'
  | 'upstream_error';

interface CatalogueEntry {
  status: number;
  type: ErrorType;
  /** Shown to callers when nothing more precise is known. Never contains a cause. */
  message: string;
}

const entry = (status: number, type: ErrorType, message: string): CatalogueEntry => ({
  status,
  type,
  message,
});
const invalid = (message: string, status = 400): CatalogueEntry =>
  entry(status, 'invalid_request_error', message);
const unauthenticated = (message: string): CatalogueEntry => entry(401, 'authentication_error', message);
const billing = (message: string): CatalogueEntry => entry(402, 'billing_error', message);
const forbidden = (message: string): CatalogueEntry => entry(403, 'permission_error', message);
const missing = (message: string): CatalogueEntry => entry(404, 'not_found_error', message);
const conflict = (message: string): CatalogueEntry => entry(409, 'conflict_error', message);
const limited = (message: string): CatalogueEntry => entry(429, 'rate_limit_error', message);
const unavailable = (message: string): CatalogueEntry => entry(503, 'server_error', message);

export const ERRORS = {
  invalid_json: invalid('The request body is not valid JSON.'),
  invalid_request: invalid('The request is not valid.'),
  missing_field: invalid('A required field is missing.'),
  invalid_value: invalid('A field has a value that is not allowed.'),
  prompt_too_long: invalid('The prompt is too long for this model.'),
  conflicting_params: invalid('Two fields contradict each other.'),
  model_not_supported: invalid('This model cannot be used on this endpoint.'),
  url_not_allowed: invalid(
    'This URL cannot be used: it must be https, with a public host name, and without a port or a password.',
  ),
  invalid_image: invalid('An input image could not be read.'),
  invalid_multipart: invalid('The body is not a sound multipart form.'),
  file_missing: invalid('The form has no file part with the name "file".'),
  too_many_parts: invalid('The form has too many files or fields.'),
  empty_file: invalid('The file is empty.'),
  content_rejected: invalid('The provider refused this content.'),
  upstream_rejected: invalid('The provider refused this request.'),
  missing_api_key: unauthenticated('Send your API key as "Authorization: Bearer sk-svc_…".'),
  invalid_api_key: unauthenticated('The API key is not valid.'),
  expired_api_key: unauthenticated('The API key has expired.'),
  not_authenticated: unauthenticated('Log in first.'),
  invalid_credentials: unauthenticated('E-mail address, password or code is wrong.'),
  verification_failed: unauthenticated('The verification failed.'),
  key_quota_exceeded: billing('The API key’s quota does not cover this request.'),
  daily_budget_exceeded: billing('The API key’s budget for today (UTC) does not cover this request.'),
  insufficient_credits: billing('The account has too few available credits for this request.'),
  permission_denied: forbidden('You do not have the permission for this.'),
  verification_required: forbidden('Verify your identity first: POST /api/verify.'),
  model_not_allowed: forbidden('This API key may not use this model.'),
  csrf_rejected: forbidden('This request came from another site.'),
  stream_not_allowed: forbidden(
    'This account gets no streams until the UTC day is over: calls of today cost more than they were charged. Send the call without "stream".',
  ),
  account_disabled: forbidden('This account is disabled.'),
  task_not_found: missing('There is no such task.'),
  model_not_found: missing('There is no such model. GET /v1/models lists those there are.'),
  redeem_code_not_found: missing('There is no such redeem code.'),
  not_found: missing('There is no such thing.'),
  file_not_found: missing('There is no such file, or its link has expired.'),
  route_not_found: missing('There is no such route.'),
  method_not_allowed: invalid('This route does not know this method.', 405),
  request_timeout: invalid('The request took too long to arrive.', 408),
  stream_timeout: invalid('The stream took too long, or was not read.', 408),
  task_not_cancellable: conflict('This task has already ended.'),
  task_not_ended: conflict('The task is being stopped and has not ended yet. Try again in a moment.'),
  task_cancelled: conflict('The task was cancelled.'),
  task_not_retryable: conflict('Only a failed task whose request is still kept can be retried.'),
  redeem_code_disabled: conflict('This redeem code has been disabled.'),
  redeem_code_expired: conflict('This redeem code has expired.'),
  redeem_code_exhausted: conflict('This redeem code has been used up.'),
  redeem_limit_reached: conflict('You have used this redeem code as often as you may.'),
  key_revoked: conflict('This API key has been revoked and cannot be changed.'),
  key_limit_reached: conflict('You have as many API keys as you may; revoke one first.'),
  webhook_limit_reached: conflict('You have as many webhooks as you may; delete one first.'),
  webhook_disabled: conflict('This webhook is disabled. Enable it first.'),
  totp_already_enabled: conflict('A second factor is already on. Remove it first.'),
  last_administrator: conflict(
    'The last enabled user with the permission users.write cannot lose it or be disabled.',
  ),
  balance_limit: conflict('The balance cannot grow any further.'),
  idempotency_in_progress: conflict(
    'A request with this Idempotency-Key is still under way. Try again in a moment.',
  ),
  email_taken: conflict('There is already a user with this e-mail address.'),
  payload_too_large: invalid('The request body is too large.', 413),
  file_too_large: invalid('The file is too large.', 413),
  storage_quota_exceeded: invalid(
    'Your uploads would take more room than you have. Delete some, or wait until they expire.',
    413,
  ),
  uri_too_long: invalid('The URL is too long.', 414),
  unsupported_media_type: invalid('Send the body as application/json in UTF-8.', 415),
  range_not_satisfiable: invalid('The file has no such range.', 416),
  expectation_failed: invalid('This Expect header is not supported.', 417),
  headers_too_large: invalid('The headers of this request are too large.', 431),
  idempotency_key_reused: invalid('This Idempotency-Key was used for another request.', 422),
  rate_limited: limited('Too many requests. Try again later.'),
  rate_limiter_unavailable: limited('Requests cannot be counted at the moment. Try again later.'),
  verification_locked: limited('Too many wrong verifications. Try again later.'),
  concurrency_limited: limited('Too many of your chat calls are under way. Try again when some have ended.'),
  queue_full: limited('Too many of your tasks are waiting. Try again when some have ended.'),
  internal_error: entry(500, 'server_error', 'Something went wrong on our side.'),
  upstream_error: entry(502, 'upstream_error', 'The provider could not do this.'),
  upstream_invalid_response: entry(502, 'upstream_error', 'The provider gave an answer that makes no sense.'),
  upstream_outcome_unknown: entry(
    502,
    'upstream_error',
    'No clear answer from the provider reached us when the work was handed over.',
  ),
  result_unavailable: entry(
    502,
    'upstream_error',
    'The provider finished, but its result could not be fetched.',
  ),
  upstream_timeout: entry(504, 'upstream_error', 'The provider did not answer in time.'),
  service_unavailable: unavailable('The service is not available at the moment.'),
  overloaded: unavailable('The service is overloaded at the moment.'),
  upstream_rate_limited: unavailable('The provider is overloaded at the moment.'),
  storage_unavailable: unavailable('The file storage is not available at the moment.'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * An error that a caller may see. `message` is public; what really happened goes into `cause`, which is
 * logged and never sent.
 */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  /** Path of the offending field, such as `metadata.resolution`, or null. */
  readonly param: string | null;
  /** Further public members of the error body, such as `required` and `available`. */
  readonly extra: Readonly<Record<string, number | string>>;
  /** Headers of the answer that belong to this error, such as those of a limit. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    options: {
      message?: string;
      param?: string | null;
      extra?: Record<string, number | string>;
      headers?: Readonly<Record<string, string>>;
      cause?: unknown;
    } = {},
  ) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.param = options.param ?? null;
    this.extra = options.extra ?? {};
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}
