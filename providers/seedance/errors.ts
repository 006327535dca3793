// What Ark's error codes mean. The vendor appends details with a dot ("….PrivacyInformation"), hence the
// patterns.
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { findMeaning, type Patterns } from '../patterns.ts';
import type { UpstreamFailure } from '../provider.ts';
import type { VendorError } from '../http/json-fields.ts';

const VERDICT_OF_CODE: Patterns<Verdict> = [
  [/sensitivecontent|policyviolation/, { errorClass: 'moderation', fate: 'refused' }],
  [/overdue|insufficient/, { errorClass: 'quota', fate: 'not_received' }],
  [/concurren/, { errorClass: 'concurrency', fate: 'not_received' }],
  [/ratelimit|serveroverloaded/, { errorClass: 'rate', fate: 'not_received' }],
  [/authentication|accessdenied/, { errorClass: 'auth', fate: 'not_received' }],
  [/invalidendpointormodel|modelnotopen|modelnotfound/, { errorClass: 'model_retired', fate: 'refused' }],
  [/invalid|missing|outofrange/, { errorClass: 'invalid', fate: 'refused' }],
];

/** Undefined where the code adds nothing to the status. */
export function refine({ code, message }: VendorError): Verdict | undefined {
  if (code?.startsWith('quotaexceeded')) return verdictOfQuota(message ?? '');
  return findMeaning(VERDICT_OF_CODE, code);
}

export function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(response, refine);
}

export function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(response, refine);
}

/** One code stands for two causes: too many jobs at once, which is temporary, and a used-up account. */
function verdictOfQuota(message: string): Verdict {
  const isTemporary = /queue|concurren|simultaneous|at the same time/i.test(message);
  return { errorClass: isTemporary ? 'concurrency' : 'quota', fate: 'not_received' };
}
