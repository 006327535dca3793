// What Veo's refusals and failed operations mean: often only the words tell.
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { verdictOnAccount, withRetryDelay } from './errors.ts';
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import type { UpstreamFailure } from '../provider.ts';
import { numberOf, textOf, type Members } from '../http/json-fields.ts';

/** The first pattern that fits the message, in lower case, decides. */
const VERDICTS: readonly (readonly [RegExp, Verdict])[] = [
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

export function submitFailure(answer: UpstreamResponse): UpstreamFailure {
  return withRetryDelay(
    answer,
    failureOfStatus(answer, ({ message }) => refine(message)),
  );
}

export function pollFailure(answer: UpstreamResponse): UpstreamFailure {
  return withRetryDelay(
    answer,
    failureAboutJob(answer, ({ message }) => refine(message)),
  );
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
  return verdictOnAccount(words) ?? VERDICTS.find(([pattern]) => pattern.test(words))?.[1];
}
