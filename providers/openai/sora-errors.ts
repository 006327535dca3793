// What refusals and failed jobs of OpenAI's Videos API mean. Resellers have codes of their own, hence the
// patterns.
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { findMeaning, type Patterns } from '../patterns.ts';
import type { UpstreamFailure } from '../provider.ts';
import type { VendorError } from '../http/json-fields.ts';

/** Verdicts by `code type`. */
const VERDICTS: Patterns<Verdict> = [
  [/moderation|content_policy|safety|sentinel/, { errorClass: 'moderation', fate: 'refused' }],
  [
    /insufficient|spend_limit|credit_balance|billing|payment_required/,
    { errorClass: 'quota', fate: 'not_received' },
  ],
  [/concurren/, { errorClass: 'concurrency', fate: 'not_received' }],
  [/rate_limit|too_many_requests/, { errorClass: 'rate', fate: 'not_received' }],
  [/invalid_api_key|authentication/, { errorClass: 'auth', fate: 'not_received' }],
  [/model_not_found/, { errorClass: 'model_retired', fate: 'refused' }],
];

/** Undefined where the error adds nothing to the status. */
export function refine({ code, type, message }: VendorError): Verdict | undefined {
  const known = findMeaning(VERDICTS, `${code ?? ''} ${type ?? ''}`);
  if (known) return known;
  if (/content policy|usage polic|moderation system|safety system|guardrail/i.test(message ?? ''))
    return { errorClass: 'moderation', fate: 'refused' };
  return undefined;
}

export function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return failureOfStatus(response, refine);
}

export function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(response, refine);
}

export function classOfFailedJob(error: VendorError | null): UpstreamErrorClass {
  if (error === null) return 'transient';
  const isInvalid = /invalid|unsupported|bad_request/.test(error.code ?? '');
  return refine(error)?.errorClass ?? (isInvalid ? 'invalid' : 'transient');
}
