// Finds out who sends a request, by the proof that its route asks for.
import type { RequestHandler, Response } from 'express';
import { forkEm } from '../../db/database.ts';
import type { Route } from '../context.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { readUserAgent } from '../http/user-agent.ts';
import type { Services } from '../services.ts';
import { countForUser } from './admission.ts';
import { authenticateKey } from './bearer-key.ts';
import { authenticateSession, rejectOtherSites, requirePermission } from './session.ts';

/** Authenticates before the body is read, so that unauthenticated uploads cost nothing. */
export function authenticate(services: Services, route: Route): RequestHandler {
  return async (req, res, next) => {
    // Decided by the route's method, not the request's: HEAD is answered by the route of GET.
    if (route.path.startsWith('/api/') && route.method !== 'GET')
      rejectOtherSites(req.headers, new URL(services.publicUrl()).origin);
    const locals = localsOf(res);
    locals.caller = { proof: 'none' };
    if (route.proof === 'key') {
      // Of a burst beyond the limit each request is refused, which is worth no look into the database.
      locals.isKeyDoubtful = seemsBeyondLimit(services, route, res);
      const mayBeRemembered = route.limit === 'chat' || locals.isKeyDoubtful;
      locals.caller = await authenticateKey(services, req, mayBeRemembered);
    }
    if (route.proof === 'session') {
      locals.em = forkEm(services.database);
      const caller = await authenticateSession(services, locals.em, req.headers.cookie, {
        ip: req.ip ?? null,
        userAgent: readUserAgent(req.headers),
      });
      requirePermission(services.log, route, caller, requireLocal(res, 'requestId'));
      locals.caller = caller;
    }
    countForUser(services, req, res);
    next();
  };
}

/** Looks the key of a request up after all that was within the limit against all appearances. */
export function settleDoubts(services: Services): RequestHandler {
  return async (req, res, next) => {
    const locals = localsOf(res);
    if (locals.isKeyDoubtful) locals.caller = await authenticateKey(services, req, false);
    next();
  };
}

function seemsBeyondLimit({ limits }: Services, route: Route, res: Response): boolean {
  return route.limit === 'create' && limits.counterOf(route).seemsSpent(requireLocal(res, 'subject'));
}
