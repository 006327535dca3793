// Finds out who sends a request, by the proof that its route asks for.
import type { Request, RequestHandler, Response } from 'express';
import { forkEm } from '../../db/database.ts';
import type { Route } from '../context.ts';
import { localsOf, requireLocal } from '../http/locals.ts';
import { readUserAgent } from '../http/user-agent.ts';
import type { Services } from '../services.ts';
import { countForUser } from './early-refusals.ts';
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
    if (route.proof === 'session') await admitSession(services, route, req, res);
    locals.isBodyLate = !req.complete;
    countForUser(services, req, res);
    next();
  };
}

/**
 * Authenticates again the sender of a body that came later than its head: it may have taken minutes, in which
 * a session ended, a permission was taken away or a key revoked. Throws as `authenticate` does. Keys that
 * create or chat are left out: the reservation of credits looks at them anew.
 */
export async function authenticateAgain(
  services: Services,
  route: Route,
  req: Request,
  res: Response,
): Promise<void> {
  const locals = localsOf(res);
  if (!locals.isBodyLate) return;
  if (route.proof === 'session') await admitSession(services, route, req, res);
  if (route.proof === 'key' && route.limit !== 'chat' && route.limit !== 'create')
    locals.caller = await authenticateKey(services, req, false);
}

/**
 * Looks up the key that was taken from memory because its request seemed beyond the limit. Runs after the
 * rate limit, which has let the request pass all the same.
 */
export function recheckDoubtfulKey(services: Services): RequestHandler {
  return async (req, res, next) => {
    const locals = localsOf(res);
    if (locals.isKeyDoubtful) locals.caller = await authenticateKey(services, req, false);
    next();
  };
}

/** Finds the caller of a session and checks that the route is theirs; what was read before is read anew. */
async function admitSession(services: Services, route: Route, req: Request, res: Response): Promise<void> {
  const locals = localsOf(res);
  locals.em = forkEm(services.database);
  const caller = await authenticateSession(services, locals.em, req.headers.cookie, {
    ip: req.ip ?? null,
    userAgent: readUserAgent(req.headers),
  });
  requirePermission(services.log, route, caller, requireLocal(res, 'requestId'));
  locals.caller = caller;
}

function seemsBeyondLimit({ limits }: Services, route: Route, res: Response): boolean {
  return route.limit === 'create' && limits.counterOf(route).seemsSpent(requireLocal(res, 'subject'));
}
