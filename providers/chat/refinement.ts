// Classifies failed chat calls by OpenAI's error codes where the HTTP status is ambiguous.
import type { Verdict } from '../http/status.ts';
import type { VendorError } from '../http/json-fields.ts';

const MODERATION_CODES = new Set([
  'content_policy_violation',
  'moderation_blocked',
  'content_filter',
  'invalid_prompt', // of reasoning models: a prompt that was flagged
]);
/** OpenAI's codes for an account that is out of money. */
export const QUOTA_CODES: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'credit_balance_exhausted',
  'organization_spend_limit_exceeded',
  'project_spend_limit_exceeded',
  'billing_hard_limit_reached',
]);

/**
 * How Google and xAI begin what they answer a wrong key, with 400. Only beginnings count, since a vendor may
 * repeat what the caller sent.
 */
const WRONG_KEY = /^(?:api key (?:not valid|not found|expired)|(?:incorrect|invalid) api key)\b/i;

/**
 * Verdict by the error's code; undefined where the status decides. The caller's mistakes come as 400, 413 and
 * 422; a 404 is a retired model or a wrong base URL.
 */
export function refineChatFailure(error: VendorError, status: number): Verdict | undefined {
  const words = [error.code ?? '', error.type ?? ''];
  if (words.some((word) => MODERATION_CODES.has(word))) return { errorClass: 'moderation', fate: 'refused' };
  if (words.some((word) => QUOTA_CODES.has(word))) return { errorClass: 'quota', fate: 'not_received' };
  if (status === 400 && WRONG_KEY.test(error.message ?? ''))
    return { errorClass: 'auth', fate: 'not_received' };
  if (status === 404 || words.includes('model_not_found'))
    return { errorClass: 'model_retired', fate: 'refused' };
  return undefined;
}
