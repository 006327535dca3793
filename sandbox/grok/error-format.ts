// xAI's error answers: one of three shapes, depending on the part of xAI that answers.

import { type Answer, json } from '../answers.ts';
import { errorText } from '../error-text.ts';
import type { ErrorDetails, ErrorFormat } from '../vendor-api.ts';

export const grokErrorFormat: ErrorFormat = { refuse };

interface Refusal {
  /** `detailed`: `{error: {message, type, param, code}}`; `coded`: `{code, error}`; `bare`: `{error}`. */
  readonly shape: 'detailed' | 'coded' | 'bare';
  readonly code: string;
  readonly message: string;
}

const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: {
    shape: 'coded',
    code: 'Client specified an invalid argument',
    message: 'The request is not valid.',
  },
  401: {
    shape: 'coded',
    code: 'Unauthenticated',
    message: 'Incorrect API key provided. You can obtain an API key from the console.',
  },
  402: {
    shape: 'coded',
    code: 'Payment required',
    message: 'Your team has used all available credits or reached its spending limit.',
  },
  403: {
    shape: 'coded',
    code: 'The caller does not have permission to execute the specified operation',
    message: 'Your team is not allowed to use this model.',
  },
  404: {
    shape: 'coded',
    code: 'Some requested entity was not found',
    message: 'The requested resource was not found.',
  },
  405: { shape: 'bare', code: '', message: 'Method not allowed.' },
  413: { shape: 'bare', code: '', message: 'Failed to buffer the request body: length limit exceeded' },
  429: {
    shape: 'detailed',
    code: 'rate_limit_exceeded',
    message: 'Too many requests for this team. Please slow down.',
  },
  500: { shape: 'bare', code: '', message: 'Internal error. Please try again.' },
  503: { shape: 'bare', code: '', message: 'The service is currently unavailable.' },
};

const UNKNOWN: Refusal = { shape: 'bare', code: '', message: 'Something went wrong.' };

/** An error that names a field comes from the part of xAI that gives details. */
function refuse(status: number, details: ErrorDetails = {}): Answer {
  const known = REFUSALS[status] ?? UNKNOWN;
  const message = errorText(details.message ?? known.message, details.text ?? 'plain');
  const headers: Record<string, string> = status === 429 || status === 503 ? { 'retry-after': '1' } : {};
  if (details.field !== undefined || known.shape === 'detailed') {
    const type = status === 429 ? 'rate_limit_error' : 'invalid_request_error';
    const param = details.field ?? null;
    const code = details.code ?? (status === 429 ? known.code : 'invalid_argument');
    return json(status, { error: { message, type, param, code } }, headers);
  }
  if (known.shape === 'bare') return json(status, { error: message }, headers);
  return json(status, { code: details.code ?? known.code, error: message }, headers);
}
