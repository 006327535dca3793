// MiniMax's answers: v1 has HTTP 200 and a code in `base_resp` even for errors, v2 has proper HTTP statuses.

import { randomUUID } from 'node:crypto';
import { type Answer, json, type WholeAnswer } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { ErrorDetails, ErrorFormat } from '../vendor-api.ts';

interface V1Refusal {
  /** HTTP status: 200 for every error of the API itself. */
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

interface V2Refusal {
  readonly type: string;
  readonly code: number;
  readonly message: string;
}

const V1_REFUSALS: Readonly<Record<number, V1Refusal>> = {
  400: { status: 200, code: 2013, message: 'invalid params' },
  401: { status: 200, code: 1004, message: 'login fail: Please carry the API secret key' },
  402: { status: 200, code: 1008, message: 'insufficient balance' },
  403: { status: 200, code: 2049, message: 'invalid api key' },
  404: { status: 404, code: 2013, message: 'not found' },
  405: { status: 405, code: 2013, message: 'method not allowed' },
  413: { status: 413, code: 2013, message: 'the request is too large' },
  429: { status: 200, code: 1002, message: 'rate limit exceeded' },
  500: { status: 200, code: 1000, message: 'unknown error, please retry your requests later' },
  503: { status: 503, code: 1013, message: 'internal service error' },
};
const V2_REFUSALS: Readonly<Record<number, V2Refusal>> = {
  400: { type: 'bad_request_error', code: 2013, message: 'invalid params' },
  401: { type: 'authorized_error', code: 1004, message: 'login fail' },
  402: { type: 'insufficient_balance_error', code: 1008, message: 'insufficient balance' },
  403: { type: 'authorized_error', code: 2049, message: 'invalid api key' },
  404: { type: 'not_found_error', code: 2013, message: 'task not found' },
  405: { type: 'bad_request_error', code: 2013, message: 'method not allowed' },
  413: { type: 'bad_request_error', code: 2013, message: 'the request is too large' },
  422: { type: 'unprocessable_entity_error', code: 1026, message: 'input contains sensitive content' },
  429: { type: 'rate_limit_error', code: 1002, message: 'rate limit exceeded' },
  500: { type: 'server_error', code: 1000, message: 'unknown error' },
  503: { type: 'server_error', code: 1013, message: 'service unavailable' },
};

export const hailuoV1ErrorFormat: ErrorFormat = {
  refuse(status: number, details: ErrorDetails = {}): Answer {
    const refusal = V1_REFUSALS[status] ?? { status: 200, code: 1000, message: 'unknown error' };
    const base = { status_code: refusal.code, status_msg: errorMessage(refusal.message, details) };
    return json(refusal.status, { base_resp: base });
  },
};

export const hailuoV2ErrorFormat: ErrorFormat = {
  refuse(status: number, details: ErrorDetails = {}): Answer {
    const refusal = V2_REFUSALS[status] ?? { type: 'server_error', code: 1000, message: 'unknown error' };
    const message = `${errorMessage(refusal.message, details)} (${refusal.code})`;
    const error = { type: refusal.type, message, http_code: String(status) };
    return json(status, { type: 'error', error, request_id: randomUUID() });
  },
};

/** A v1 answer to a request that is in order; the status code is not 0 for a failed job. */
export function v1Answer(body: object, statusMessage = 'success', statusCode = 0): WholeAnswer {
  return json(200, { ...body, base_resp: { status_code: statusCode, status_msg: statusMessage } });
}

function errorMessage(message: string, details: ErrorDetails): string {
  const field = details.field === undefined ? '' : `${details.field}: `;
  return errorText(`${field}${details.message ?? message}`, details.text ?? 'plain');
}
