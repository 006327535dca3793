// Describes the origin of a request, as audit entries store it.
import type { AuditOrigin } from '../../db/audit-log.ts';
import type { RequestContext, SessionCaller } from '../context.ts';

/** The origin of a request that a session makes. */
export function originOf(ctx: RequestContext<SessionCaller>): AuditOrigin {
  return originOfUser(ctx, ctx.caller.user.id);
}

/** The origin of a login: the user has no session yet. */
export function originOfUser(
  { ip, userAgent, requestId }: Pick<RequestContext, 'ip' | 'userAgent' | 'requestId'>,
  actorId: string,
): AuditOrigin {
  return { actorId, ip, userAgent, requestId };
}
