// Lists the entries of the audit log, for administrators with the permission.
import { z } from 'zod';
import { listAuditEntries } from '../../db/audit-log.ts';
import { AUDIT_ACTIONS } from '../../domain/audit.ts';
import { presentAuditEntry } from '../account/audit-views.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { idText, oneOf, isoInstant, readQuery } from '../http/request-fields.ts';

const TARGET_CHARACTERS_MAX = 100;

export const AUDIT_LIST_QUERY = z.object({
  ...pageQuery('aud'),
  action: oneOf(AUDIT_ACTIONS).optional(),
  actor: idText('usr').optional().describe('The id of the user who did it.'),
  target: z
    .string()
    .min(1, 'must not be empty')
    .max(TARGET_CHARACTERS_MAX)
    .optional()
    .describe('The id of what it was done to.'),
  from: isoInstant().optional().describe('The first moment.'),
  to: isoInstant().optional().describe('The moment after the last.'),
});

export async function listAudit({ em, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, actor, target, ...filters } = readQuery(AUDIT_LIST_QUERY, query);
  const page = { limit: limit + 1, beforeId: cursor ?? null, actorId: actor, targetId: target, ...filters };
  return answerPage(await listAuditEntries(em, page), limit, presentAuditEntry);
}
