/** How MiniMax answers: its first API with HTTP 200 and a code in `base_resp`, its second with true HTTP statuses. */

import { randomUUID } from 'node:crypto';
import { type Answer, type Content, json } from '../answers.ts';
import type { Complaint, Voice } from '../dialect.ts';
import { wordError } from '../leaky.ts';

interface FirstRefusal {
  /** Of HTTP: 200 for everything the API itself says. */
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

interface SecondRefusal {
  readonly type: string;
  readonly code: number;
  readonly message: string;
}

const FIRST: Readonly<Record<number, FirstRefusal>> = {
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
const SECOND: Readonly<Record<number, SecondRefusal>> = {
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

export const hailuoFirstVoice: Voice = {
  refuse(status: number, complaint: Complaint = {}): Answer {
    const refusal = FIRST[status] ?? { status: 200, code: 1000, message: 'unknown error' };
    const base = { status_code: refusal.code, status_msg: wordComplaint(refusal.message, complaint) };
    return json(refusal.status, { base_resp: base });
  },
};

export const hailuoSecondVoice: Voice = {
  refuse(status: number, complaint: Complaint = {}): Answer {
    const refusal = SECOND[status] ?? { type: 'server_error', code: 1000, message: 'unknown error' };
    const message = `${wordComplaint(refusal.message, complaint)} (${refusal.code})`;
    const error = { type: refusal.type, message, http_code: String(status) };
    return json(status, { type: 'error', error, request_id: randomUUID() });
  },
};

/** An answer of the first API that all is well. */
export function tellFirst(
  body: object,
  statusMessage = 'success',
  statusCode = 0,
): Content & { kind: 'whole' } {
  return json(200, { ...body, base_resp: { status_code: statusCode, status_msg: statusMessage } });
}

function wordComplaint(message: string, complaint: Complaint): string {
  const field = complaint.field === undefined ? '' : `${complaint.field}: `;
  return wordError(`${field}${complaint.message ?? message}`, complaint.text ?? 'plain');
}
