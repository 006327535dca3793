// Who an administrator's request is from, as audit entries keep it.
import type { AuditOrigin } from '../../db/audit-log.ts';
import type { Call, SessionCaller } from '../context.ts';

export function originOf({ caller, ip, userAgent, requestId }: Call<SessionCaller>): AuditOrigin {
  return { actorId: caller.user.id, ip, userAgent, requestId };
}
