// Room for a large body is looked for before it is read; small ones always have it.
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { BODY_BYTES_MAX, type Caller } from '../context.ts';
import { type Services } from '../services.ts';

/** Needs the caller in `res.locals`. 503 overloaded when there is none; given back with the answer. */
export function requireBodyRoom(services: Services, bytesMax: number): RequestHandler {
  return (req, res, next) => {
    const { 'content-length': announced, 'content-encoding': encoding } = req.headers;
    // What does not say how long it will be may be as long as the route allows.
    const isKnown = announced !== undefined && encoding === undefined;
    const bytes = isKnown ? Number(announced) : bytesMax;
    if (bytes <= BODY_BYTES_MAX || bytes > bytesMax) {
      next(); // or is refused for its size
      return;
    }
    const caller: Caller = res.locals['caller'];
    const giveBack = services.bodies.take(caller.proof === 'none' ? '' : caller.user.id, bytes);
    if (!giveBack) {
      services.metrics.shed('bodies');
      next(new GatewayError('overloaded'));
      return;
    }
    res.once('close', giveBack);
    next();
  };
}
