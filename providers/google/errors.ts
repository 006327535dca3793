// What Google's refusals have in common, whatever was asked for: only words tell, and the body says how long to wait.
import type { UpstreamResponse, Verdict } from '../http/status.ts';
import { UpstreamFailure } from '../provider.ts';

/** Of a message in lower case. */
const ACCOUNT_VERDICTS: readonly (readonly [RegExp, Verdict])[] = [
  [/api key (not valid|not found|expired)/, { errorClass: 'auth', fate: 'not_received' }],
  [
    /spending cap|enable billing|billing (account|to be enabled|is disabled)|credits? (is|are) depleted/,
    { errorClass: 'quota', fate: 'not_received' },
  ],
];

/**
 * A wrong key is answered with 400 and an account without money with 400 or 429, as are many other things. `words`: the
 * message in lower case. Undefined where it says nothing about the account.
 */
export function verdictOnAccount(words: string): Verdict | undefined {
  return ACCOUNT_VERDICTS.find(([pattern]) => pattern.test(words))?.[1];
}

/** The same failure with the wait of google.rpc.RetryInfo, whose `retryDelay` reads like `34s` or `0.5s`. */
export function withRetryDelay(answer: UpstreamResponse, failure: UpstreamFailure): UpstreamFailure {
  const written = /"retryDelay"\s*:\s*"(\d{1,5}(?:\.\d{1,9})?)s"/.exec(answer.body.toString('utf8'))?.[1];
  if (failure.retryAfterMs !== null || written === undefined) return failure;
  return changed(failure, { retryAfterMs: Math.ceil(Number(written) * 1000) });
}

/** The same failure, with the vendor's words changed. */
export function reworded(failure: UpstreamFailure, reword: (text: string) => string): UpstreamFailure {
  return failure.text === null ? failure : changed(failure, { text: reword(failure.text) });
}

function changed(
  failure: UpstreamFailure,
  changes: { text?: string; retryAfterMs?: number },
): UpstreamFailure {
  const { errorClass, fate, text, retryAfterMs, upstreamRequestId, status, isSilence, cause } = failure;
  const options = { text, retryAfterMs, upstreamRequestId, status, isSilence, cause, ...changes };
  return new UpstreamFailure(errorClass, fate, options);
}
