// What OpenAI's own words say about a chat call that failed, where the status alone does not.
import type { Verdict } from '../http/status.ts';
import type { VendorError } from '../http/json-fields.ts';

const MODERATION_CODES = new Set([
  'content_policy_violation',
  'moderation_blocked',
  'content_filter',
  'invalid_prompt', // of reasoning models: a prompt that was flagged
]);
const QUOTA_CODES = new Set([
  'insufficient_quota',
  'credit_balance_exhausted',
  'organization_spend_limit_exceeded',
  'project_spend_limit_exceeded',
  'billing_hard_limit_reached',
]);

/** The caller's own mistakes come as 400, 413 and 422; a 404 is a model that is gone, or a wrong base URL. */
export function refineChatFailure(error: VendorError, status: number): Verdict | undefined {
  const words = [error.code ?? '', error.type ?? ''];
  if (words.some((word) => MODERATION_CODES.has(word))) return { errorClass: 'moderation', fate: 'refused' };
  if (words.some((word) => QUOTA_CODES.has(word))) return { errorClass: 'quota', fate: 'not_received' };
  if (status === 404 || words.includes('model_not_found'))
    return { errorClass: 'model_retired', fate: 'refused' };
  return undefined;
}
