// What a request to the API can fail with: the API's error body, or no answer at all.

/** Codes of the console itself, for answers that never came. */
export type OwnCode = 'no_connection' | 'no_json' | 'not_verified';

export class ApiError extends Error {
  readonly status: number;
  /** A code of the API's catalogue, or one of `OwnCode`. */
  readonly code: string;
  readonly param: string | null;
  readonly requestId: string | null;
  readonly required: number | null;
  readonly available: number | null;
  /** Seconds after which the request may be sent again; null when the API did not say. */
  readonly retryAfterSeconds: number | null;

  constructor(fields: {
    status: number;
    code: string;
    message: string;
    param?: string | null;
    requestId?: string | null;
    required?: number | null;
    available?: number | null;
    retryAfterSeconds?: number | null;
  }) {
    super(fields.message);
    this.status = fields.status;
    this.code = fields.code;
    this.param = fields.param ?? null;
    this.requestId = fields.requestId ?? null;
    this.required = fields.required ?? null;
    this.available = fields.available ?? null;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
  }

  /** Whether the API could not be reached or could not work: the request may well succeed later. */
  get isAway(): boolean {
    return this.code === 'no_connection' || this.status === 503 || this.status === 502 || this.status === 504;
  }
}

/** Reads the error of an answer. */
export async function readError(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get('retry-after'));
  const requestId = response.headers.get('x-request-id');
  const body = await response.json().catch(() => null);
  const { error } = (body ?? {}) as { error?: Partial<Record<string, unknown>> };
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const amount = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return new ApiError({
    status: response.status,
    code: text(error?.['code']) ?? 'no_json',
    message: text(error?.['message']) ?? response.statusText,
    param: text(error?.['param']),
    requestId: text(error?.['request_id']) ?? requestId,
    required: amount(error?.['required']),
    available: amount(error?.['available']),
    retryAfterSeconds: retryAfter > 0 ? retryAfter : null,
  });
}
