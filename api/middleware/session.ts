// Session cookies: who calls /api, and whether the request may have come from another site.
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../../db/entities/identity.ts';
import { findSession } from '../../db/identity/sessions.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Permission } from '../../domain/permissions.ts';
import type { Log } from '../../log.ts';
import type { Route, SessionCaller } from '../context.ts';
import { readSessionToken } from '../http/session-cookie.ts';
import { logRefusal } from '../monitoring/security-log.ts';
import type { Em } from '../../db/database.ts';
import type { Services } from '../services.ts';

/** Throws 401 without a live session, 403 for a disabled user. */
export async function authenticateSession(
  services: Services,
  em: Em,
  cookies: string | undefined,
): Promise<SessionCaller> {
  const token = readSessionToken(cookies);
  const found = token === null ? null : await findSession(em, services.secrets, token);
  if (!found) throw new GatewayError('not_authenticated');
  if (found.user.disabledAt) throw new GatewayError('account_disabled');
  return { proof: 'session', ...found };
}

/**
 * Refuses unsafe requests that a browser sent from another site. A request with neither header is no
 * browser's: browsers send at least one of them with every unsafe cross-site request.
 */
export function rejectOtherSites(headers: IncomingHttpHeaders, ownOrigin: string): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) {
    if (site !== 'same-origin' && site !== 'none') throw new GatewayError('csrf_rejected');
    return;
  }
  if (headers.origin !== undefined && headers.origin !== ownOrigin) throw new GatewayError('csrf_rejected');
}

/** Whether this session completed /api/verify not too long ago. */
export function isVerified(session: Session, now: Date): boolean {
  return Boolean(session.verifiedUntil && session.verifiedUntil > now);
}

/**
 * The order is part of the contract: a missing permission is reported before a missing verification. A
 * refusal is a line in the security log.
 */
export function requirePermission(
  log: Log,
  route: Pick<Route, 'method' | 'path'> & { permission?: Permission; stepUp?: true },
  { user, session }: SessionCaller,
  requestId: string,
): void {
  const isPermitted = !route.permission || user.permissions.includes(route.permission);
  if (isPermitted && !(route.stepUp && !isVerified(session, new Date()))) return;
  const code = isPermitted ? 'verification_required' : 'permission_denied';
  logRefusal(log, { userId: user.id, route, code, requestId });
  throw new GatewayError(code);
}
