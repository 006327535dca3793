// What DashScope's error codes mean. Several spellings are unconfirmed, so patterns tell, not lists.
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import type { UpstreamFailure } from '../provider.ts';
import type { VendorError } from '../http/json-fields.ts';

/** The first pattern that fits the code, in lower case, decides. */
const VERDICTS: readonly { code: RegExp; verdict: Verdict }[] = [
  { code: /datainspection|moderation/, verdict: { errorClass: 'moderation', fate: 'refused' } },
  {
    code: /arrearage|overdue|prepaidbill|insufficient/,
    verdict: { errorClass: 'quota', fate: 'not_received' },
  },
  { code: /concurren/, verdict: { errorClass: 'concurrency', fate: 'not_received' } },
  // "AllocationQuota" is the vendor's name for tokens per minute: it passes.
  { code: /throttling|ratequota|limitrequests/, verdict: { errorClass: 'rate', fate: 'not_received' } },
  { code: /invalidapikey|accessdenied/, verdict: { errorClass: 'auth', fate: 'not_received' } },
  { code: /modelnotfound|model_not_found/, verdict: { errorClass: 'model_retired', fate: 'refused' } },
  { code: /invalid|unsupported|badrequest/, verdict: { errorClass: 'invalid', fate: 'refused' } },
];

/** Undefined where the code says nothing beyond the status. */
export function refine({ code, message }: VendorError): Verdict | undefined {
  const verdict = VERDICTS.find((entry) => entry.code.test(code ?? ''))?.verdict;
  const isConcurrency = verdict?.errorClass === 'rate' && /concurren|at the same time/i.test(message ?? '');
  return isConcurrency ? { errorClass: 'concurrency', fate: 'not_received' } : verdict;
}

export function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(response, refine);
}

export function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(response, refine);
}
