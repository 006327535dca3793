// Vidu's error answers: `reason` is the stable code, `code` is either that or the HTTP status.

import { randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { ErrorDetails, ErrorFormat } from '../vendor-api.ts';

export const viduErrorFormat: ErrorFormat = { refuse };

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

/** Errors about a field have the HTTP status as their `code`, the others the reason. */
function refuse(status: number, details: ErrorDetails = {}): Answer {
  const known = REFUSALS[status] ?? { reason: 'UnknownError', message: 'unknown error' };
  const isAboutField = details.field !== undefined;
  const reason = details.code ?? (isAboutField ? 'FieldInvalid' : known.reason);
  const plainMessage = details.message ?? known.message;
  const message = isAboutField ? `${details.field}: ${plainMessage}` : plainMessage;
  return json(status, {
    code: isAboutField ? status : reason,
    reason,
    message: errorText(message, details.text ?? 'plain'),
    metadata: { trace_id: randomUUID().replaceAll('-', '') },
  });
}
