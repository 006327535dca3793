/** How DashScope refuses: `{code, message, request_id}`. */

import { randomUUID } from 'node:crypto';
import { type Answer, json } from '../answers.ts';
import type { Complaint, Voice } from '../dialect.ts';
import { wordError } from '../leaky.ts';

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

export const wanVoice: Voice = { refuse };

function refuse(status: number, complaint: Complaint = {}): Answer {
  const known = REFUSALS[status] ?? { code: 'UnknownError', message: 'Something went wrong.' };
  const said = complaint.message ?? known.message;
  const named = complaint.field === undefined ? said : `${complaint.field}: ${said}`;
  const code = complaint.code ?? known.code;
  const message = wordError(named, complaint.text ?? 'plain');
  return json(status, { code, message, request_id: randomUUID() });
}
