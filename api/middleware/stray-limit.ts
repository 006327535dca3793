// Limits requests that lead nowhere and need no login: unknown routes, wrong sessions, forged links.
import type { ErrorRequestHandler } from 'express';
import { GatewayError, type ErrorCode } from '../../domain/errors.ts';
import { localsOf } from '../http/locals.ts';
import { addressBlock } from '../limits/address-block.ts';
import type { Services } from '../services.ts';

/** The errors of such requests. Wrong API keys have a limit of their own (`WRONG_KEYS`). */
const STRAY: ReadonlySet<ErrorCode> = new Set(['route_not_found', 'not_authenticated', 'file_not_found']);

/**
 * Counts a stray request by the address it came from, and answers 429 instead of its error when there were
 * too many. Counted after the failure, so that nothing else from the same address is refused. While the
 * limiter is unavailable, the error stays what it is.
 */
export function limitStrays({ limits }: Services): ErrorRequestHandler {
  const { strays } = limits;
  return async (thrown: unknown, req, res, next) => {
    const isCalledByUser = (localsOf(res).caller?.proof ?? 'none') !== 'none';
    if (!(thrown instanceof GatewayError) || !STRAY.has(thrown.code) || isCalledByUser) {
      next(thrown);
      return;
    }
    const taken = await strays.consume(addressBlock(req.ip ?? ''));
    next(taken.verdict === 'over' ? limits.refuse('rate_limited', strays.bucket, taken) : thrown);
  };
}
