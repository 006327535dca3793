// What all refusals of Google have in common: the message tells the cause, the body how long to wait.
import type { UpstreamResponse, Verdict } from '../http/status.ts';
import { findMeaning, type Patterns } from '../patterns.ts';
import { UpstreamFailure } from '../provider.ts';

/** Messages about the account. */
const ACCOUNT_VERDICTS: Patterns<Verdict> = [
  [/api key (not valid|not found|expired)/, { errorClass: 'auth', fate: 'not_received' }],
  [
    /spending cap|enable billing|billing (account|to be enabled|is disabled)|credits? (is|are) depleted/,
    { errorClass: 'quota', fate: 'not_received' },
  ],
];

/**
 * Verdict on the account by the message; undefined where the message is about something else. A wrong key is
 * answered with 400 and an account without money with 400 or 429, as are many other mistakes.
 */
export function verdictOnAccount(message: string | null): Verdict | undefined {
  return findMeaning(ACCOUNT_VERDICTS, message);
}

/** The same failure with the wait of google.rpc.RetryInfo, whose `retryDelay` reads like `34s` or `0.5s`. */
export function withRetryDelay(response: UpstreamResponse, failure: UpstreamFailure): UpstreamFailure {
  const written = /"retryDelay"\s*:\s*"(\d{1,5}(?:\.\d{1,9})?)s"/.exec(response.body.toString('utf8'))?.[1];
  if (failure.retryAfterMs !== null || written === undefined) return failure;
  return copyFailure(failure, { retryAfterMs: Math.ceil(Number(written) * 1000) });
}

/** The same failure, with the vendor's text changed by `change`. */
export function mapFailureText(failure: UpstreamFailure, change: (text: string) => string): UpstreamFailure {
  return failure.text === null ? failure : copyFailure(failure, { text: change(failure.text) });
}

function copyFailure(
  failure: UpstreamFailure,
  changes: { text?: string; retryAfterMs?: number },
): UpstreamFailure {
  const { errorClass, fate, text, retryAfterMs, upstreamRequestId, status, isSilence, cause } = failure;
  const options = { text, retryAfterMs, upstreamRequestId, status, isSilence, cause, ...changes };
  return new UpstreamFailure(errorClass, fate, options);
}
