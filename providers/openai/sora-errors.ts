// What refusals and failed jobs of OpenAI's Videos API mean. Resellers have codes of their own, so patterns tell.
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { failureAboutJob, type UpstreamResponse, type Verdict } from '../http/status.ts';
import type { UpstreamFailure } from '../provider.ts';
import type { VendorError } from '../http/json-fields.ts';

/** The first pattern that fits code and type decides. */
const VERDICTS: readonly (readonly [RegExp, Verdict])[] = [
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

/** Undefined where the words say nothing beyond the status. */
export function refine({ code, type, message }: VendorError): Verdict | undefined {
  const words = `${code ?? ''} ${type ?? ''}`;
  const known = VERDICTS.find(([pattern]) => pattern.test(words))?.[1];
  if (known) return known;
  if (/content policy|usage polic|moderation system|safety system|guardrail/i.test(message ?? ''))
    return { errorClass: 'moderation', fate: 'refused' };
  return undefined;
}

/** What a 404 means depends on the age of the job, which the caller knows. */
export function pollFailure(answer: UpstreamResponse): UpstreamFailure {
  return failureAboutJob(answer, refine);
}

export function classOfFailedJob(error: VendorError | null): UpstreamErrorClass {
  if (error === null) return 'transient';
  const isInvalid = /invalid|unsupported|bad_request/.test(error.code ?? '');
  return refine(error)?.errorClass ?? (isInvalid ? 'invalid' : 'transient');
}
