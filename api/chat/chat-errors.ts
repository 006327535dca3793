// What a caller reads when an upstream did not do its part. Our own trouble there is never the caller's: see each status.
import { GatewayError } from '../../domain/errors.ts';
import { failureOf, ownerMayRead } from '../../domain/failures.ts';
import { withoutEcho } from '../../domain/masking/echo.ts';
import { maskErrorText } from '../../domain/masking/masking.ts';
import type { UpstreamFailure } from '../../providers/chat/chat.ts';

const MESSAGE_CHARACTERS_MAX = 500;

/** With the upstream's own words where they are about the request, masked, and without what they repeat of the prompt. */
export function explainFailure(failure: UpstreamFailure, prompt: string): GatewayError {
  const { errorClass, text, retryAfterMs, isSilence } = failure;
  const code = isSilence ? 'upstream_timeout' : failureOf(errorClass);
  const ours = new GatewayError(code);
  const isAboutRequest = code === 'upstream_rejected' || code === 'content_rejected';
  const theirs =
    text !== null && isAboutRequest && ownerMayRead(errorClass)
      ? maskErrorText(withoutEcho(text, prompt))
      : '';
  const seconds = Math.max(1, Math.ceil((retryAfterMs ?? 1_000) / 1000));
  return new GatewayError(code, {
    message: theirs === '' ? ours.message : `${ours.message} ${theirs}`.slice(0, MESSAGE_CHARACTERS_MAX),
    headers: code === 'upstream_rate_limited' ? { 'retry-after': String(seconds) } : {},
    cause: failure,
  });
}
