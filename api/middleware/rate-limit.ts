// Applies the rate limit of a route before the body is read, and writes the limit's state into the answer.
import type { Request, RequestHandler } from 'express';
import type { Caller, Route } from '../context.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { addressBlock } from '../limits/address-block.ts';
import type { LimitName } from '../limits/buckets.ts';
import { describeQuota } from '../limits/headers.ts';
import type { Services } from '../services.ts';
import { goOnInTurn } from './turns.ts';

/**
 * Consumes a point of the caller's limit, and adds the limit's state to the answer. Runs after
 * authentication. Throws 429.
 */
export function limitRate(services: Services, route: Route): RequestHandler {
  return async (req, res, next) => {
    const { limits } = services;
    const counter = limits.counterOf(route);
    const subject = subjectOf(route.limit, requireLocal(res, 'caller'), req);
    const taken = await limits.consume(counter, subject).finally(() => goOnInTurn(services, res));
    localsOf(res).limitBackend = taken.backend;
    for (const [name, value] of Object.entries(describeQuota(counter.bucket, taken)))
      res.setHeader(name, value);
    // A fault of the gateway must not lock the caller out.
    if (route.limit === 'auth')
      res.once('finish', () => {
        if (res.statusCode >= 500) taken.refund();
      });
    next();
  };
}

/**
 * The subject that is counted: a stable id of the caller, or the address block. Never the path, which can
 * be written in many ways.
 */
function subjectOf(limit: LimitName, caller: Caller, req: Request): string {
  if (limit === 'auth' || caller.proof === 'none') return addressBlock(req.ip ?? '');
  const isPerKey = limit === 'chat' || limit === 'read';
  return isPerKey && caller.proof === 'key' ? caller.key.id : caller.user.id;
}
