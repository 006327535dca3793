// Reserves memory for a large body before it is read; small bodies need no reservation.
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { BODY_BYTES_MAX } from '../context.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import type { Services } from '../services.ts';

/**
 * Reserves the bytes of the body until the answer is sent. Runs after authentication. Throws 503
 * `overloaded` when too many bytes are under way.
 */
export function reserveBodyBytes(services: Services, bytesMax: number): RequestHandler {
  return (req, res, next) => {
    const { 'content-length': announced, 'content-encoding': encoding } = req.headers;
    // A chunked or compressed body may become as long as the route allows.
    const isKnown = announced !== undefined && encoding === undefined;
    const bytes = isKnown ? Number(announced) : bytesMax;
    if (bytes <= BODY_BYTES_MAX || bytes > bytesMax) {
      next(); // a body above the limit is refused by the parser
      return;
    }
    const caller = requireLocal(res, 'caller');
    const release = services.bodies.reserve(caller.proof === 'none' ? '' : caller.user.id, bytes);
    if (!release) {
      services.metrics.shed('bodies');
      next(new GatewayError('overloaded'));
      return;
    }
    localsOf(res).releaseBody = release;
    res.once('close', release);
    next();
  };
}
