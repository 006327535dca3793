// Lists what happened to the security of the caller's account: logins, keys, factors, passwords, sessions.
import { z } from 'zod';
import { listSecurityEvents } from '../../db/identity/security-events.ts';
import { presentSecurityEvent } from '../account/audit-views.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { readQuery } from '../http/request-fields.ts';

export const SECURITY_EVENT_LIST_QUERY = z.object(pageQuery('aud'));

export async function listOwnSecurityEvents({
  em,
  caller,
  query,
}: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor } = readQuery(SECURITY_EVENT_LIST_QUERY, query);
  const found = await listSecurityEvents(em, caller.user.id, { limit: limit + 1, beforeId: cursor ?? null });
  return answerPage(found, limit, (entry) => presentSecurityEvent(entry, caller.user.id));
}
