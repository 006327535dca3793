// Creates the errors that callers of chat read: of a refused reservation, or of an upstream that failed.
import type { ChatCallVerdict } from '../../db/chat/calls.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import { cutText } from '../../domain/cut-text.ts';
import { GatewayError } from '../../domain/errors.ts';
import { failureOf, ownerMayRead } from '../../domain/failures.ts';
import { withoutEcho } from '../../domain/masking/echo.ts';
import { maskErrorText } from '../../domain/masking/masking.ts';
import type { UpstreamFailure } from '../../providers/chat/chat.ts';
import { insufficientCredits } from '../account/insufficient-credits.ts';

/** In UTF-16 code units. */
const MESSAGE_LENGTH_MAX = 500;

/**
 * Creates the error of a refused reservation; `insufficient_credits` says what was required and available.
 */
export function explainRefusal(
  { reason, available }: Extract<ChatCallVerdict, { kind: 'refused' }>,
  required: MicroCredits,
): GatewayError {
  if (reason !== 'insufficient_credits') return new GatewayError(reason);
  return insufficientCredits(required, available);
}

/**
 * Creates the error for an upstream's failure. If the request caused it, the upstream's text is added:
 * masked, and without what it repeats of `prompt`. Other failures, such as a refused credential of ours,
 * show our text only.
 */
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
    message: theirs === '' ? ours.message : cutText(`${ours.message} ${theirs}`, MESSAGE_LENGTH_MAX),
    headers: code === 'upstream_rate_limited' ? { 'retry-after': String(seconds) } : {},
    cause: failure,
  });
}
