// Kling's answers: an envelope with a code around everything, and HTTP statuses that follow from the code.

import { randomUUID } from 'node:crypto';
import { type Answer, json, type WholeAnswer } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { ErrorDetails, ErrorFormat } from '../vendor-api.ts';

export const klingErrorFormat: ErrorFormat = { refuse };

interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

/** Kling has no 402: an account in arrears gets a 429. */
const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: { status: 400, code: 1201, message: 'Invalid request parameters' },
  401: { status: 401, code: 1002, message: 'Authorization is invalid' },
  402: { status: 429, code: 1101, message: 'Account in arrears' },
  403: { status: 403, code: 1103, message: 'No access to the requested resource' },
  404: { status: 404, code: 1203, message: 'The requested resource does not exist' },
  405: { status: 405, code: 1202, message: 'Request method invalid' },
  413: { status: 413, code: 1200, message: 'The request is too large' },
  429: { status: 429, code: 1302, message: 'API request too fast, rate limit exceeded' },
  500: { status: 500, code: 5000, message: 'Server internal error' },
  503: { status: 503, code: 5001, message: 'Server temporarily unavailable, usually due to maintenance' },
};
const UNKNOWN: Refusal = { status: 500, code: 5000, message: 'Server internal error' };

export function dataAnswer(data: unknown): WholeAnswer {
  return json(200, { code: 0, message: 'SUCCEED', request_id: randomUUID(), data });
}

function refuse(status: number, details: ErrorDetails = {}): Answer {
  const refusal = REFUSALS[status] ?? UNKNOWN;
  const field = details.field === undefined ? '' : `${details.field}: `;
  const message = errorText(`${field}${details.message ?? refusal.message}`, details.text ?? 'plain');
  const code = details.code === undefined ? refusal.code : Number(details.code);
  return json(refusal.status, { code, message, request_id: randomUUID() });
}
