// What the refusals and failures of Google's videos mean; often only the message tells.
import type { UpstreamErrorClass } from '../../domain/failures.ts';
import { verdictOnAccount, withRetryDelay } from './errors.ts';
import { failureAboutJob, failureOfStatus, type UpstreamResponse, type Verdict } from '../http/status.ts';
import { findMeaning, type Patterns } from '../patterns.ts';
import type { UpstreamFailure } from '../provider.ts';
import { numberOf, textOf, type Members } from '../http/json-fields.ts';

const VERDICT_OF_MESSAGE: Patterns<Verdict> = [
  [
    /responsible ai|sensitive words|safety (filter|setting|polic)|violat.{0,90}(polic|guideline|practice|terms)/s,
    { errorClass: 'moderation', fate: 'refused' },
  ],
  [/no longer available/, { errorClass: 'model_retired', fate: 'refused' }],
  [/concurrent/, { errorClass: 'concurrency', fate: 'not_received' }],
];

/** google.rpc.Code of failed operations; all others are internal errors of the vendor. */
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

export function submitFailure(response: UpstreamResponse): UpstreamFailure {
  return withRetryDelay(
    response,
    failureOfStatus(response, ({ message }) => refine(message)),
  );
}

export function pollFailure(response: UpstreamResponse): UpstreamFailure {
  return withRetryDelay(
    response,
    failureAboutJob(response, ({ message }) => refine(message)),
  );
}

export function isCancellation(error: Members): boolean {
  return error['code'] === CANCELLED;
}

/** `error`: the one of a finished operation. */
export function classOfOperation(error: Members): UpstreamErrorClass {
  const byWords = classOfMessage(textOf(error['message']));
  return byWords ?? CLASS_OF_CODE[numberOf(error['code']) ?? 0] ?? 'transient';
}

/** What the words of a failure say of its cause; undefined where they say nothing. */
export function classOfMessage(message: string | null): UpstreamErrorClass | undefined {
  return refine(message)?.errorClass;
}

/** Undefined where the message adds nothing to the status. */
function refine(message: string | null): Verdict | undefined {
  return verdictOnAccount(message) ?? findMeaning(VERDICT_OF_MESSAGE, message);
}
