/** How Kling answers: an envelope with a code of its own around everything, and HTTP statuses that follow the code. */

import { randomUUID } from 'node:crypto';
import { type Answer, type Content, json } from '../answers.ts';
import type { Complaint, Voice } from '../dialect.ts';
import { wordError } from '../leaky.ts';

interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
}

/** Kling has no 402: an account without money is answered with 429. */
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

export const klingVoice: Voice = { refuse };

export function tellData(data: unknown): Content & { kind: 'whole' } {
  return json(200, { code: 0, message: 'SUCCEED', request_id: randomUUID(), data });
}

function refuse(status: number, complaint: Complaint = {}): Answer {
  const refusal = REFUSALS[status] ?? UNKNOWN;
  const field = complaint.field === undefined ? '' : `${complaint.field}: `;
  const message = wordError(`${field}${complaint.message ?? refusal.message}`, complaint.text ?? 'plain');
  const code = complaint.code === undefined ? refusal.code : Number(complaint.code);
  return json(refusal.status, { code, message, request_id: randomUUID() });
}
