/** How Google refuses: {error: {code, message, status, details}}, the code being the HTTP status. */

import { type Answer, json } from '../answers.ts';
import type { Complaint, Voice } from '../dialect.ts';
import { wordError } from '../leaky.ts';

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

/** Codes of complaints that name a refusal of their own. */
export const WRONG_KEY = 'API_KEY_INVALID';
export const SPENDING_CAP = 'SPENDING_CAP';

const MESSAGES: Readonly<Record<string, string>> = {
  [WRONG_KEY]: 'API key not valid. Please pass a valid API key.',
  [SPENDING_CAP]: 'Your project has exceeded its spending cap. Go to AI Studio to manage it.',
};

export const geminiVoice: Voice = { refuse };

function refuse(status: number, complaint: Complaint = {}): Answer {
  const [word, usual] = REFUSALS[status] ?? ['UNKNOWN', 'Unknown error.'];
  const told = complaint.message ?? MESSAGES[complaint.code ?? ''] ?? usual;
  const message = wordError(told, complaint.text ?? 'plain');
  return json(status, {
    error: { code: status, message, status: word, details: details(status, complaint) },
  });
}

/** Google tells how long to wait in the body and has no header for it. */
function details(status: number, { field, code }: Complaint): object[] | undefined {
  if (field !== undefined)
    return [{ '@type': `${RPC}.BadRequest`, fieldViolations: [{ field, description: 'Invalid value.' }] }];
  if (code === WRONG_KEY)
    return [{ '@type': `${RPC}.ErrorInfo`, reason: WRONG_KEY, domain: 'googleapis.com' }];
  return status === 429 ? [{ '@type': `${RPC}.RetryInfo`, retryDelay: '1s' }] : undefined;
}
