// Rejects requests before authentication: overload, missing host, too long URL, unknown expectation.
import type { Request, RequestHandler, Response } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { REQUEST_TARGET_CHARACTERS_MAX } from '../http/http-server.ts';
import { countHeader } from '../http/raw-headers.ts';
import { whenClosed } from '../http/at-close.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import type { Services } from '../services.ts';

/** Rejects with 503 `overloaded` while the process can take no more requests. */
export function rejectWhenOverloaded({ overload, subjects, metrics }: Services): RequestHandler {
  return (req, res, next) => {
    const subject = subjects.of(req);
    const seat = overload.enter(subject);
    if (typeof seat === 'string') {
      metrics.shed(seat);
      next(new GatewayError('overloaded'));
      return;
    }
    localsOf(res).subject = subject;
    localsOf(res).seat = seat;
    whenClosed(res, () => seat.leave());
    next();
  };
}

/**
 * Counts a request among those of its user, whichever of the user's keys it came with. Throws 503
 * `overloaded` when the user has too many under way.
 */
export function countForUser({ subjects, metrics }: Services, req: Request, res: Response): void {
  const caller = requireLocal(res, 'caller');
  if (caller.proof === 'none') return;
  const locals = localsOf(res);
  if (locals.subject !== caller.user.id) subjects.learn(req, caller.user.id);
  locals.subject = caller.user.id;
  const shortage = requireLocal(res, 'seat').belongTo(caller.user.id);
  if (shortage === null) return;
  metrics.shed(shortage);
  throw new GatewayError('overloaded');
}

export const rejectMalformedRequests: RequestHandler = (req, _res, next) => {
  const { expect } = req.headers;
  const hosts = countHeader(req, 'host');
  // RFC 9112 §3.2: none or several are 400. HTTP/1.0 had none yet.
  if (hosts > 1 || (hosts === 0 && req.httpVersion === '1.1')) next(new GatewayError('invalid_request'));
  else if (req.url.length > REQUEST_TARGET_CHARACTERS_MAX) next(new GatewayError('uri_too_long'));
  else if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    next(new GatewayError('expectation_failed'));
  else next();
};
