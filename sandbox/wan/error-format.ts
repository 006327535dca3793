// DashScope's error answers: `{code, message, request_id}`.

import { randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { ErrorDetails, ErrorFormat } from '../vendor-api.ts';

export const wanErrorFormat: ErrorFormat = { refuse };

const REFUSALS: Readonly<Record<number, { readonly code: string; readonly message: string }>> = {
  400: { code: 'InvalidParameter', message: 'Required parameter is missing or invalid.' },
  401: { code: 'InvalidApiKey', message: 'Invalid API-key provided.' },
  402: { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' },
  403: { code: 'AccessDenied', message: 'Access denied.' },
  404: { code: 'ModelNotFound', message: 'The model can not be found.' },
  405: { code: 'MethodNotAllowed', message: 'This method is not allowed here.' },
  413: { code: 'BadRequest.TooLarge', message: 'Payload too large.' },
  429: { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded, please try again later.' },
  500: { code: 'InternalError', message: 'An internal error has occurred, please try again later.' },
  503: { code: 'ServiceUnavailable', message: 'The service is currently unavailable.' },
};

function refuse(status: number, details: ErrorDetails = {}): Answer {
  const known = REFUSALS[status] ?? { code: 'UnknownError', message: 'Something went wrong.' };
  const plainMessage = details.message ?? known.message;
  const fieldMessage = details.field === undefined ? plainMessage : `${details.field}: ${plainMessage}`;
  const code = details.code ?? known.code;
  const message = errorText(fieldMessage, details.text ?? 'plain');
  return json(status, { code, message, request_id: randomUUID() });
}
