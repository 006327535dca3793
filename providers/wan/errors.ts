// What DashScope's error codes mean. Several spellings are unconfirmed, hence patterns rather than lists.
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { findMeaning, type Patterns } from '../patterns.ts';
import type { UpstreamFailure } from '../provider.ts';
import type { VendorError } from '../http/json-fields.ts';

const VERDICT_OF_CODE: Patterns<Verdict> = [
  [/datainspection|moderation/, { errorClass: 'moderation', fate: 'refused' }],
  [/arrearage|overdue|prepaidbill|insufficient/, { errorClass: 'quota', fate: 'not_received' }],
  [/concurren/, { errorClass: 'concurrency', fate: 'not_received' }],
  // "AllocationQuota" is the vendor's name for tokens per minute, so the limit is temporary.
  [/throttling|ratequota|limitrequests/, { errorClass: 'rate', fate: 'not_received' }],
  [/invalidapikey|accessdenied/, { errorClass: 'auth', fate: 'not_received' }],
  [/modelnotfound|model_not_found/, { errorClass: 'model_retired', fate: 'refused' }],
  [/invalid|unsupported|badrequest/, { errorClass: 'invalid', fate: 'refused' }],
];

/** Undefined where the code adds nothing to the status. */
export function refine({ code, message }: VendorError): Verdict | undefined {
  const verdict = findMeaning(VERDICT_OF_CODE, code);
  const isConcurrency = verdict?.errorClass === 'rate' && /concurren|at the same time/i.test(message ?? '');
  return isConcurrency ? { errorClass: 'concurrency', fate: 'not_received' } : verdict;
}

export function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(response, refine);
}

export function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(response, refine);
}
