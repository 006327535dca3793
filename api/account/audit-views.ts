// Presents audit entries as JSON: to administrators as they are, to users what concerns their own security.
import type { AuditRecord } from '../../db/audit-log.ts';
import type { AuditEntryView } from '../shapes/administration.ts';

export function presentAuditEntry(entry: AuditRecord): AuditEntryView {
  const { id, action, actorId, actorEmail, targetType, targetId, detail, createdAt } = entry;
  return {
    id,
    action,
    actor: actorId && actorEmail !== null ? { id: actorId, email: actorEmail } : null,
    target: { type: targetType, id: targetId },
    ip: entry.ip ?? null,
    userAgent: entry.userAgent ?? null,
    requestId: entry.requestId ?? null,
    detail,
    createdAt: createdAt.toISOString(),
  };
}

/** Presents an entry to the user it concerns; who else acted, and from where, is not the user's to know. */
export function presentSecurityEvent(entry: AuditRecord, userId: string): AuditEntryView {
  const presented = presentAuditEntry(entry);
  if (entry.actorId === userId) return presented;
  return { ...presented, actor: null, ip: null, userAgent: null, requestId: null };
}
