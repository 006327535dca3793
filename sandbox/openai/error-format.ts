// OpenAI's error answers: `{error: {message, type, param, code}}`.

import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { ErrorDetails, ErrorFormat } from '../vendor-api.ts';

export const openaiErrorFormat: ErrorFormat = { refuse };

interface Refusal {
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
}

const INVALID = 'invalid_request_error';

const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: { type: INVALID, code: null, message: 'Your request was malformed.' },
  401: {
    type: INVALID,
    code: 'invalid_api_key',
    message: 'Incorrect API key provided. You can find your API key in your account settings.',
  },
  402: { type: INVALID, code: 'payment_required', message: 'Your account requires a payment to go on.' },
  403: {
    type: INVALID,
    code: 'unsupported_country_region_territory',
    message: 'Country, region, or territory not supported.',
  },
  404: { type: INVALID, code: null, message: 'Invalid URL: there is nothing at this path.' },
  405: { type: INVALID, code: null, message: 'Not allowed to use this method on this URL.' },
  413: { type: INVALID, code: null, message: 'The request is larger than the maximum content size.' },
  429: {
    type: 'requests',
    code: 'rate_limit_exceeded',
    message: 'Rate limit reached for requests per minute. Please try again in 1s.',
  },
  500: {
    type: 'server_error',
    code: null,
    message: 'The server had an error while processing your request. Sorry about that!',
  },
  503: {
    type: 'server_error',
    code: null,
    message: 'The engine is currently overloaded, please try again later.',
  },
};

/** Types and messages of codes that have their own, whatever the status. */
const REFUSALS_BY_CODE: Readonly<Record<string, Omit<Refusal, 'code'>>> = {
  insufficient_quota: {
    type: 'insufficient_quota',
    message: 'You exceeded your current quota, please check your plan and billing details.',
  },
  content_policy_violation: {
    type: INVALID,
    message: 'Your prompt was flagged as potentially violating the usage policy.',
  },
  moderation_blocked: {
    type: 'image_generation_user_error',
    message: 'Your request was rejected by the safety system.',
  },
};

const UNKNOWN: Refusal = { type: 'server_error', code: null, message: 'Something went wrong.' };

function refuse(status: number, details: ErrorDetails = {}): Answer {
  const known = REFUSALS[status] ?? UNKNOWN;
  const byCode = details.code === undefined ? undefined : REFUSALS_BY_CODE[details.code];
  const message = details.message ?? byCode?.message ?? known.message;
  const error = {
    message: errorText(message, details.text ?? 'plain'),
    type: byCode?.type ?? known.type,
    param: details.field ?? null,
    code: details.code ?? known.code,
  };
  const headers: Record<string, string> = status === 429 || status === 503 ? { 'retry-after': '1' } : {};
  return json(status, { error }, headers);
}
