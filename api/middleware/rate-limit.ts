// The limit of a route: who is counted, before the body is read, and what the answer says about it.
import type { RequestHandler, Response } from 'express';
import type { Caller, Route } from '../context.ts';
import { addressBlock } from '../limits/address-block.ts';
import type { LimitName } from '../limits/buckets.ts';
import { describeQuota, type LimitBackend } from '../limits/headers.ts';
import type { Services } from '../services.ts';

/** Needs the caller in `res.locals`. Refuses with 429; otherwise every answer carries how the limit stands. */
export function limitRate(services: Services, route: Route): RequestHandler {
  return async (req, res, next) => {
    const { limits } = services;
    const counter = limits.counterOf(route);
    const taken = await limits.consume(counter, subjectOf(route.limit, res.locals['caller'], req.ip ?? ''));
    res.locals['limitBackend'] = taken.backend;
    for (const [name, value] of Object.entries(describeQuota(counter.bucket, taken)))
      res.setHeader(name, value);
    // Our own faults must not end in a lock.
    if (route.limit === 'auth')
      res.once('finish', () => {
        if (res.statusCode >= 500) taken.refund();
      });
    next();
  };
}

/** What counted this request. */
export function limitBackendOf(res: Response): LimitBackend {
  return res.locals['limitBackend'];
}

/** A stable id, and never the path: that can be written in many ways. */
function subjectOf(limit: LimitName, caller: Caller, ip: string): string {
  if (limit === 'auth' || caller.proof === 'none') return addressBlock(ip);
  const isPerKey = limit === 'chat' || limit === 'read';
  return isPerKey && caller.proof === 'key' ? caller.key.id : caller.user.id;
}
