// What Ark's error codes mean. The vendor adds to them with a dot ("….PrivacyInformation"), so patterns tell, not lists.
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import type { UpstreamFailure } from '../provider.ts';
import type { VendorError } from '../http/json-fields.ts';

/** The first pattern that fits the code, in lower case, decides. */
const VERDICTS: readonly { code: RegExp; verdict: Verdict }[] = [
  { code: /sensitivecontent|policyviolation/, verdict: { errorClass: 'moderation', fate: 'refused' } },
  { code: /overdue|insufficient/, verdict: { errorClass: 'quota', fate: 'not_received' } },
  { code: /concurren/, verdict: { errorClass: 'concurrency', fate: 'not_received' } },
  { code: /ratelimit|serveroverloaded/, verdict: { errorClass: 'rate', fate: 'not_received' } },
  { code: /authentication|accessdenied/, verdict: { errorClass: 'auth', fate: 'not_received' } },
  {
    code: /invalidendpointormodel|modelnotopen|modelnotfound/,
    verdict: { errorClass: 'model_retired', fate: 'refused' },
  },
  { code: /invalid|missing|outofrange/, verdict: { errorClass: 'invalid', fate: 'refused' } },
];

/** Undefined where the code says nothing beyond the status. */
export function refine({ code, message }: VendorError): Verdict | undefined {
  const word = code ?? '';
  if (word.startsWith('quotaexceeded')) return verdictOfQuota(message ?? '');
  return VERDICTS.find((entry) => entry.code.test(word))?.verdict;
}

export function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(response, refine);
}

export function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(response, refine);
}

/** One code for two things: too many jobs at once, which passes, and an account whose share is used up. */
function verdictOfQuota(message: string): Verdict {
  const passes = /queue|concurren|simultaneous|at the same time/i.test(message);
  return { errorClass: passes ? 'concurrency' : 'quota', fate: 'not_received' };
}
