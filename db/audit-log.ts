// The audit log: an entry is written in the transaction of the change it records, and is never changed.
import type { AuditAction } from '../domain/audit.ts';
import type { JsonValue } from '../domain/json.ts';
import { AuditEntryEntity, type AuditEntry } from './entities/audit.ts';
import { makeId } from './ids.ts';
import type { Em } from './database.ts';

/** Who made the change, and from where. The command line has no user and no address. */
export interface AuditOrigin {
  actorId: string | null;
  ip: string | null;
  userAgent: string | null;
  requestId: string | null;
}

export const COMMAND_LINE: AuditOrigin = {
  actorId: null,
  ip: null,
  userAgent: 'command line',
  requestId: null,
};

/** Origin of the changes that the check of the ledger's invariants makes: it freezes accounts. */
export const INVARIANT_CHECK: AuditOrigin = { ...COMMAND_LINE, userAgent: 'invariant check' };

/**
 * Writes an entry in the transaction of `em`, which must be the change's own. `detail` must hold no secret.
 */
export async function writeAuditEntry(
  em: Em,
  origin: AuditOrigin,
  entry: {
    action: AuditAction;
    targetType: string;
    targetId: string;
    detail?: { [name: string]: JsonValue };
  },
): Promise<void> {
  await em.insert(AuditEntryEntity, {
    id: makeId('aud'),
    ...origin,
    ...entry,
    detail: entry.detail ?? {},
    createdAt: new Date(),
  });
}

/** Entries, newest first, older than the entry `beforeId` if given; at most `limit`. */
export async function listAuditEntries(
  em: Em,
  page: { limit: number; beforeId: string | null; action: string | null },
): Promise<AuditEntry[]> {
  const where = {
    ...(page.beforeId === null ? {} : { id: { $lt: page.beforeId } }),
    ...(page.action === null ? {} : { action: page.action }),
  };
  return em.find(AuditEntryEntity, where, { orderBy: { id: 'desc' }, limit: page.limit });
}
