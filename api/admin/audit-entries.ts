// Lists the entries of the audit log, for administrators with the permission.
import { z } from 'zod';
import { listAuditEntries } from '../../db/audit-log.ts';
import { AUDIT_ACTIONS } from '../../domain/audit.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { oneOf, readQuery } from '../http/request-fields.ts';
import { presentAuditEntry } from './views.ts';

export const AUDIT_LIST_QUERY = z.object({
  ...pageQuery('aud'),
  action: oneOf(AUDIT_ACTIONS).optional(),
});

export async function listAudit({ em, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, action } = readQuery(AUDIT_LIST_QUERY, query);
  const page = { limit: limit + 1, beforeId: cursor ?? null, action: action ?? null };
  return answerPage(await listAuditEntries(em, page), limit, presentAuditEntry);
}
