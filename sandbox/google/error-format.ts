// Google's error answers: `{error: {code, message, status, details}}`, where the code is the HTTP status.

import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { ErrorDetails, ErrorFormat } from '../vendor-api.ts';

export const googleErrorFormat: ErrorFormat = { refuse };

/** Codes in ErrorDetails that select a message of their own. */
export const WRONG_KEY = 'API_KEY_INVALID';
export const SPENDING_CAP = 'SPENDING_CAP';

const RPC = 'type.googleapis.com/google.rpc';

/** The `status` and the message of each HTTP status. */
const REFUSALS: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  401: ['UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  402: ['FAILED_PRECONDITION', 'Please enable billing on project in Google AI Studio.'],
  403: ['PERMISSION_DENIED', 'The caller does not have permission.'],
  404: ['NOT_FOUND', 'The model is not found for API version v1beta, or is no longer available.'],
  405: ['INVALID_ARGUMENT', 'The method is not allowed here.'],
  413: ['INVALID_ARGUMENT', 'Request payload size exceeds the limit.'],
  429: ['RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'],
  499: ['CANCELLED', 'The operation was cancelled.'],
  500: ['INTERNAL', 'An internal error has occurred. Please retry.'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  504: ['DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'],
};

const MESSAGES: Readonly<Record<string, string>> = {
  [WRONG_KEY]: 'API key not valid. Please pass a valid API key.',
  [SPENDING_CAP]: 'Your project has exceeded its spending cap. Go to AI Studio to manage it.',
};

function refuse(status: number, details: ErrorDetails = {}): Answer {
  const [statusName, usualMessage] = REFUSALS[status] ?? ['UNKNOWN', 'Unknown error.'];
  const plainMessage = details.message ?? MESSAGES[details.code ?? ''] ?? usualMessage;
  const message = errorText(plainMessage, details.text ?? 'plain');
  return json(status, {
    error: { code: status, message, status: statusName, details: rpcDetails(status, details) },
  });
}

/** Details such as the time to wait after a 429, for which Google has no header. */
function rpcDetails(status: number, { field, code }: ErrorDetails): object[] | undefined {
  if (field !== undefined)
    return [{ '@type': `${RPC}.BadRequest`, fieldViolations: [{ field, description: 'Invalid value.' }] }];
  if (code === WRONG_KEY)
    return [{ '@type': `${RPC}.ErrorInfo`, reason: WRONG_KEY, domain: 'googleapis.com' }];
  return status === 429 ? [{ '@type': `${RPC}.RetryInfo`, retryDelay: '1s' }] : undefined;
}
