// What Google's refusals and failed operations mean: often only the words tell.
import type { UpstreamErrorClass } from '../domain/failures.ts';
import { failureOfStatus, verdictOfStatus, type UpstreamAnswer, type Verdict } from './http-status.ts';
import { UpstreamFailure } from './provider.ts';
import { numberOf, textOf, type Members } from './reading.ts';

/** The first pattern that fits the message, in lower case, decides. */
const VERDICTS: readonly (readonly [RegExp, Verdict])[] = [
  [/api key (not valid|not found|expired)/, { errorClass: 'auth', fate: 'not_received' }],
  [
    /spending cap|enable billing|billing (account|to be enabled|is disabled)|credits? (is|are) depleted/,
    { errorClass: 'quota', fate: 'not_received' },
  ],
  [
    /responsible ai|sensitive words|safety (filter|setting|polic)|violat\w*.{0,80}(polic|guideline|practice|terms)/s,
    { errorClass: 'moderation', fate: 'refused' },
  ],
  [/no longer available/, { errorClass: 'model_retired', fate: 'refused' }],
  [/concurrent/, { errorClass: 'concurrency', fate: 'not_received' }],
];

/** google.rpc.Code of failed operations. Others are the vendor's own trouble. */
const CANCELLED = 1;
const CLASS_OF_CODE: Readonly<Record<number, UpstreamErrorClass>> = {
  3: 'invalid',
  5: 'invalid',
  7: 'auth',
  8: 'rate',
  9: 'invalid',
  11: 'invalid',
  16: 'auth',
};

export function submitFailure(answer: UpstreamAnswer): UpstreamFailure {
  return withRetryDelay(
    answer,
    failureOfStatus(answer, ({ message }) => refine(message)),
  );
}

export function pollFailure(answer: UpstreamAnswer): UpstreamFailure {
  const failure = failureOfStatus(answer, ({ message }, status) => {
    const gone = verdictOfStatus(status).errorClass === 'model_retired';
    return gone ? { errorClass: 'expired', fate: 'refused' } : refine(message);
  });
  return withRetryDelay(answer, failure);
}

export function isCancellation(error: Members): boolean {
  return error['code'] === CANCELLED;
}

/** `error`: of an operation that is done. */
export function classOfOperation(error: Members): UpstreamErrorClass {
  const byWords = refine(textOf(error['message']))?.errorClass;
  return byWords ?? CLASS_OF_CODE[numberOf(error['code']) ?? 0] ?? 'transient';
}

/** Undefined where the words say nothing beyond the status. */
function refine(message: string | null): Verdict | undefined {
  const words = message?.toLowerCase() ?? '';
  return VERDICTS.find(([pattern]) => pattern.test(words))?.[1];
}

/** The same failure, with the vendor's words changed. */
export function reworded(failure: UpstreamFailure, reword: (text: string) => string): UpstreamFailure {
  return failure.text === null ? failure : changed(failure, { text: reword(failure.text) });
}

/** Google tells in the body how long to wait: `retryDelay` of google.rpc.RetryInfo, such as `34s` or `0.5s`. */
function withRetryDelay(answer: UpstreamAnswer, failure: UpstreamFailure): UpstreamFailure {
  const written = /"retryDelay"\s*:\s*"(\d{1,5}(?:\.\d{1,9})?)s"/.exec(answer.body.toString('utf8'))?.[1];
  if (failure.retryAfterMs !== null || written === undefined) return failure;
  return changed(failure, { retryAfterMs: Math.ceil(Number(written) * 1000) });
}

function changed(
  failure: UpstreamFailure,
  changes: { text?: string; retryAfterMs?: number },
): UpstreamFailure {
  const { errorClass, fate, text, retryAfterMs, upstreamRequestId, status, isSilence, cause } = failure;
  const options = { text, retryAfterMs, upstreamRequestId, status, isSilence, cause, ...changes };
  return new UpstreamFailure(errorClass, fate, options);
}
