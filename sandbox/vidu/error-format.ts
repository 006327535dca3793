/** How Vidu refuses: `reason` is the stable word, `code` is sometimes that word and sometimes the HTTP status. */

import { randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import type { Complaint, Voice } from '../dialect.ts';
import { wordError } from '../leaky.ts';

const REFUSALS: Readonly<Record<number, { reason: string; message: string }>> = {
  400: { reason: 'BadRequest', message: 'the request is invalid' },
  401: { reason: 'Unauthorized', message: 'the token is invalid' },
  402: { reason: 'CreditInsufficient', message: 'the credits are insufficient' },
  403: { reason: 'PermissionDenied', message: 'permission denied' },
  404: { reason: 'TaskNotFound', message: 'task not found' },
  405: { reason: 'MethodNotAllowed', message: 'method not allowed' },
  413: { reason: 'RequestTooLarge', message: 'the body is larger than 20MB' },
  429: { reason: 'TooManyRequests', message: 'too many requests' },
  500: { reason: 'InternalServiceFailure', message: 'internal service failure' },
  503: { reason: 'ServiceUnavailable', message: 'service unavailable' },
};

export const viduVoice: Voice = { refuse };

/** A complaint’s code is the reason. Those about fields carry the status as their `code`, the others the word. */
function refuse(status: number, complaint: Complaint = {}): Answer {
  const known = REFUSALS[status] ?? { reason: 'UnknownError', message: 'unknown error' };
  const byField = complaint.field === undefined ? known.reason : 'FieldInvalid';
  const reason = complaint.code ?? byField;
  const told = complaint.message ?? known.message;
  const message = complaint.field === undefined ? told : `${complaint.field}: ${told}`;
  return json(status, {
    code: complaint.field === undefined ? reason : status,
    reason,
    message: wordError(message, complaint.text ?? 'plain'),
    metadata: { trace_id: randomUUID().replaceAll('-', '') },
  });
}
