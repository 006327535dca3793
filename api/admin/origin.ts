// Describes the origin of an administrator's request, as audit entries store it.
import type { AuditOrigin } from '../../db/audit-log.ts';
import type { RequestContext, SessionCaller } from '../context.ts';

export function originOf({ caller, ip, userAgent, requestId }: RequestContext<SessionCaller>): AuditOrigin {
  return { actorId: caller.user.id, ip, userAgent, requestId };
}
