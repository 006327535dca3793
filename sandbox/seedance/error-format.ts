// Ark's error answers: `{error: {code, message, param, type}}`.

import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { ErrorDetails, ErrorFormat } from '../vendor-api.ts';

export const seedanceErrorFormat: ErrorFormat = { refuse };

interface Refusal {
  readonly code: string;
  readonly type: string;
  readonly message: string;
}

const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: { code: 'InvalidParameter', type: 'BadRequest', message: 'A parameter specified is not valid.' },
  401: {
    code: 'AuthenticationError',
    type: 'Unauthorized',
    message: 'The API key in the request is missing or invalid.',
  },
  402: {
    code: 'AccountOverdueError',
    type: 'Forbidden',
    message: 'The request failed because your account has an overdue balance.',
  },
  403: { code: 'AccessDenied', type: 'Forbidden', message: 'You have no access to this resource.' },
  404: {
    code: 'ResourceNotFound',
    type: 'NotFound',
    message: 'The specified resource does not exist or you have no access to it.',
  },
  405: { code: 'MethodNotAllowed', type: 'BadRequest', message: 'This method is not allowed here.' },
  409: {
    code: 'InvalidAction.RunningTaskDeletion',
    type: 'Conflict',
    message: 'The task is running and cannot be deleted.',
  },
  413: { code: 'RequestTooLarge', type: 'BadRequest', message: 'The body of the request is too large.' },
  429: {
    code: 'RateLimitExceeded.EndpointRPMExceeded',
    type: 'TooManyRequests',
    message: 'The requests per minute (RPM) limit of the endpoint is exceeded.',
  },
  500: {
    code: 'InternalServiceError',
    type: 'InternalServerError',
    message: 'The service encountered an unexpected internal error.',
  },
  503: { code: 'ServiceUnavailable', type: 'ServiceUnavailable', message: 'Please try again later.' },
};

const UNKNOWN: Refusal = { code: 'UnknownError', type: 'Unknown', message: 'Something went wrong.' };

function refuse(status: number, details: ErrorDetails = {}): Answer {
  const known = REFUSALS[status] ?? UNKNOWN;
  const message = errorText(details.message ?? known.message, details.text ?? 'plain');
  const error = {
    code: details.code ?? known.code,
    message,
    param: details.field ?? '',
    type: known.type,
  };
  return json(status, { error });
}
