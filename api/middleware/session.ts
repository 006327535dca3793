// Authenticates sessions by their cookie, and refuses requests that another site caused.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { findSession, type FoundSession, type SeenFrom } from '../../db/identity/sessions.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Permission } from '../../domain/permissions.ts';
import type { Log } from '../../log.ts';
import type { Route, SessionCaller } from '../context.ts';
import { readSessionToken } from '../http/session-cookie.ts';
import { logRefusal } from '../monitoring/security-log.ts';
import type { Em } from '../../db/database.ts';
import type { Services } from '../services.ts';

/** Finds the user of a session cookie. Throws 401 without a live session, 403 for a disabled user. */
export async function authenticateSession(
  services: Services,
  em: Em,
  cookies: string | undefined,
  from?: SeenFrom,
): Promise<SessionCaller> {
  const token = readSessionToken(cookies);
  const found = token === null ? null : await findLiveSession(services, em, token, from);
  if (!found) throw new GatewayError('not_authenticated');
  if (found.user.disabledAt) throw new GatewayError('account_disabled');
  return { proof: 'session', ...found };
}

/**
 * Throws 403 `csrf_rejected` for an unsafe request that a browser sent from another site. A request with
 * neither header is not from a browser: browsers send at least one of them with every unsafe cross-site
 * request.
 */
export function rejectOtherSites(headers: IncomingHttpHeaders, ownOrigin: string): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site !== 'same-origin' && site !== 'none') throw new GatewayError('csrf_rejected');
    return;
  }
  if (headers.origin !== undefined && headers.origin !== ownOrigin) throw new GatewayError('csrf_rejected');
}

/**
 * Throws 403 when the route requires a permission or a step-up verification that is missing. The missing
 * permission is reported first, as callers rely on. Each refusal is a line in the security log.
 */
export function requirePermission(
  log: Log,
  route: Pick<Route, 'method' | 'path'> & { permission?: Permission; stepUp?: true },
  { user, isVerified }: SessionCaller,
  requestId: string,
): void {
  const isPermitted = !route.permission || user.permissions.includes(route.permission);
  if (isPermitted && !(route.stepUp && !isVerified)) return;
  const code = isPermitted ? 'verification_required' : 'permission_denied';
  logRefusal(log, { userId: user.id, route, code, requestId });
  throw new GatewayError(code);
}

/**
 * Finds a session. A token without one is remembered for some seconds: what has ended never lives again, and
 * a page that was left open asks over and over.
 */
async function findLiveSession(
  { secrets, endedSessions }: Services,
  em: Em,
  token: string,
  from?: SeenFrom,
): Promise<FoundSession | null> {
  // A cookie may be as long as the head of a request, and its text would keep all of that.
  const name = hash('sha256', token, 'base64');
  if (endedSessions.has(name)) return null;
  const found = await findSession(em, secrets, token, from);
  if (!found) endedSessions.set(name, true);
  return found;
}
