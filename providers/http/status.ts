// Turns responses outside 2xx into UpstreamFailures: by status, and by the vendor's error body where an
// adapter refines it.
import { cutText } from '../../domain/cut-text.ts';
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { UpstreamFailure, type RequestFate } from '../provider.ts';
import { readVendorError, type VendorError } from './json-fields.ts';

export interface UpstreamResponse {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The vendor's id of the request, for its support. */
  upstreamRequestId: string | null;
}

/** In UTF-16 code units. */
const TEXT_LENGTH_MAX = 2_000;
const RETRY_AFTER_MS_MAX = 3_600_000;

export interface Verdict {
  errorClass: UpstreamErrorClass;
  fate: RequestFate;
}

/** Turns a response outside 2xx into the failure that it stands for. */
export type ToFailure = (response: UpstreamResponse) => UpstreamFailure;

/** An adapter's verdict by the vendor's error body; undefined where the status decides. */
export type Refine = (error: VendorError, status: number) => Verdict | undefined;

/**
 * Class and fate by status alone. 404 and 410 read as `model_retired`, which is what they mean for a
 * submission; for a poll see `failureAboutJob`.
 */
export function verdictOfStatus(status: number): Verdict {
  if (status === 401 || status === 403) return { errorClass: 'auth', fate: 'not_received' };
  if (status === 402) return { errorClass: 'quota', fate: 'not_received' };
  if (status === 404 || status === 410) return { errorClass: 'model_retired', fate: 'refused' };
  if (status === 429) return { errorClass: 'rate', fate: 'not_received' };
  if (status === 503) return { errorClass: 'transient', fate: 'not_received' };
  // A gateway in front of the vendor may answer 500, 502 or 504 (or 408) although the work was taken behind
  // it.
  if (status === 408 || status >= 500) return { errorClass: 'transient', fate: 'unknown' };
  if (status >= 400) return { errorClass: 'invalid', fate: 'refused' };
  // Redirects are not followed: a base URL that redirects is wrong, and stays so until the operator changes
  // it.
  return { errorClass: 'invalid_response', fate: 'refused' };
}

/** The failure of a submission that was answered outside 2xx. */
export function failureOfStatus(response: UpstreamResponse, refine?: Refine): UpstreamFailure {
  const error = readErrorBody(response.body);
  const verdict = refine?.(error, response.status) ?? verdictOfStatus(response.status);
  return new UpstreamFailure(verdict.errorClass, verdict.fate, {
    text: error.message,
    retryAfterMs: readRetryAfter(response.headers),
    upstreamRequestId: response.upstreamRequestId,
    status: response.status,
  });
}

/**
 * The failure of a query about a job that was answered outside 2xx: 404 and 410 mean that the job is gone.
 */
export function failureAboutJob(response: UpstreamResponse, refine?: Refine): UpstreamFailure {
  return failureOfStatus(response, (error, status) => {
    if (status === 404 || status === 410) return { errorClass: 'expired', fate: 'refused' };
    return refine?.(error, status);
  });
}

/** Plain text counts as the message; HTML, which gateways in front of vendors send, is ignored. */
function readErrorBody(body: Buffer): VendorError {
  const text = body.toString('utf8').trim();
  let error: VendorError | null = null;
  try {
    error = readVendorError(JSON.parse(text));
  } catch {
    if (text !== '' && !/^[<{[]/.test(text)) error = { code: null, type: null, message: text };
  }
  const message = error?.message ? cutText(error.message, TEXT_LENGTH_MAX) : null;
  return { code: error?.code ?? null, type: error?.type ?? null, message };
}

/** `retry-after-ms`, or `retry-after` as seconds or as a date (RFC 9110 §10.2.3); at most an hour. */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now = Date.now()): number | null {
  const milliseconds = Number(headers['retry-after-ms'] || Number.NaN);
  const after = headers['retry-after'] ?? '';
  const seconds = /^\s*\d+(\.\d+)?\s*$/.test(after) ? Number(after) : Number.NaN;
  const waits = [milliseconds, seconds * 1000, Date.parse(after) - now];
  const wait = waits.find((value) => Number.isFinite(value));
  return wait === undefined ? null : Math.min(Math.max(Math.ceil(wait), 0), RETRY_AFTER_MS_MAX);
}
