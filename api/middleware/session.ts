// Session cookies: who calls /api, and whether the request may have come from another site.
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../../db/entities/identity.ts';
import type { Em } from '../../db/orm.ts';
import { findSession } from '../../db/sessions.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Permission } from '../../domain/permissions.ts';
import type { Gateway, SessionCaller } from '../gateway.ts';

export const SESSION_COOKIE = 'svc_session';

/** Throws 401 without a live session, 403 for a disabled user. */
export async function authenticateSession(
  gateway: Gateway,
  em: Em,
  cookies: string | undefined,
): Promise<SessionCaller> {
  const tokens = (cookies ?? '')
    .split(';')
    .map((cookie) => cookie.trim().split('='))
    .filter(([name]) => name === SESSION_COOKIE)
    .map(([, value]) => value ?? '');
  const [token] = tokens;
  const found = token && tokens.length === 1 ? await findSession(em, gateway.secrets, token) : null;
  if (!found) throw new GatewayError('not_authenticated');
  if (found.user.disabledAt) throw new GatewayError('account_disabled');
  return { proof: 'session', ...found };
}

/**
 * Refuses unsafe requests that a browser sent from another site. A request with neither header is no browser's:
 * browsers send at least one of them with every unsafe cross-site request.
 */
export function refuseOtherSites(headers: IncomingHttpHeaders, ownOrigin: string): void {
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

/** The order is part of the contract: what somebody may not do at all comes before what needs a fresh proof. */
export function refuseUnpermitted(
  route: { permission?: Permission; stepUp?: true },
  { user, session }: SessionCaller,
): void {
  if (route.permission && !user.permissions.includes(route.permission))
    throw new GatewayError('permission_denied');
  if (route.stepUp && !isVerified(session, new Date())) throw new GatewayError('verification_required');
}
