// The audit log: an entry is written in the transaction of the change it records, and is never changed.
import { sql, type FilterQuery } from '@mikro-orm/postgresql';
import type { AuditAction } from '../domain/audit.ts';
import type { JsonValue } from '../domain/json.ts';
import { AuditEntryEntity, type AuditEntry } from './entities/audit.ts';
import { UserEntity } from './entities/identity.ts';
import { firstIdAt, makeId } from './ids.ts';
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

/** A change to record. `detail` must hold no secret. */
export interface NewAuditEntry {
  action: AuditAction;
  targetType: string;
  targetId: string;
  /** The user whose security it concerns, and who may read it. */
  userId?: string;
  detail?: { [name: string]: JsonValue };
}

/** Writes an entry in the transaction of `em`, which must be the change's own. */
export async function writeAuditEntry(em: Em, origin: AuditOrigin, entry: NewAuditEntry): Promise<void> {
  const now = Date.now();
  await em.insert(AuditEntryEntity, {
    id: makeId('aud', now), // the same moment as `createdAt`: lists between two times are ranges of ids
    ...origin,
    ...entry,
    detail: entry.detail ?? {},
    createdAt: new Date(now),
  });
}

/** The same as a part of a statement: writes the entry if the CTE `source` of that statement has a row. */
export function insertAuditEntry(origin: AuditOrigin, entry: NewAuditEntry, source: string) {
  const { action, targetType, targetId, userId = null, detail = {} } = entry;
  const now = Date.now();
  return sql`
    insert into audit_entry
      (id, action, actor_id, user_id, target_type, target_id, ip, user_agent, request_id, detail, created_at)
    select ${makeId('aud', now)}, ${action}, ${origin.actorId}, ${userId}, ${targetType}, ${targetId}, ${origin.ip},
           ${origin.userAgent}, ${origin.requestId}, ${JSON.stringify(detail)}::jsonb,
           ${new Date(now).toISOString()}::timestamptz
    from ${sql.ref(source)}`;
}

/** An entry with the e-mail address of the user who made the change. */
export type AuditRecord = AuditEntry & { actorEmail: string | null };

export interface AuditFilters {
  action?: AuditAction | undefined;
  /** Id of the user who made the change. */
  actorId?: string | undefined;
  /** Id of what was changed. */
  targetId?: string | undefined;
  /** The first moment. */
  from?: Date | undefined;
  /** The moment after the last. */
  to?: Date | undefined;
}

/** Entries, newest first, older than the entry `beforeId` if given; at most `limit`. */
export async function listAuditEntries(
  em: Em,
  page: { limit: number; beforeId: string | null } & AuditFilters,
): Promise<AuditRecord[]> {
  const { limit, beforeId, action, actorId, targetId, from, to } = page;
  const bounds = [
    ...(beforeId === null ? [] : [{ id: { $lt: beforeId } }]),
    ...(from === undefined ? [] : [{ id: { $gte: firstIdAt('aud', from) } }]),
    ...(to === undefined ? [] : [{ id: { $lt: firstIdAt('aud', to) } }]),
  ];
  const where = {
    ...(action === undefined ? {} : { action }),
    ...(actorId === undefined ? {} : { actorId }),
    ...(targetId === undefined ? {} : { targetId }),
    $and: bounds,
  };
  return readAuditEntries(em, where, limit);
}

/** Reads entries with their actors' addresses, newest first. */
export async function readAuditEntries(
  em: Em,
  where: FilterQuery<AuditEntry>,
  limit: number,
): Promise<AuditRecord[]> {
  const entries = await em.find(AuditEntryEntity, where, { orderBy: { id: 'desc' }, limit });
  const actorIds = [...new Set(entries.flatMap(({ actorId }) => actorId ?? []))];
  const actors = actorIds.length === 0 ? [] : await em.find(UserEntity, { id: { $in: actorIds } });
  const emails = new Map(actors.map(({ id, email }) => [id, email]));
  return entries.map((entry) => ({ ...entry, actorEmail: emails.get(entry.actorId ?? '') ?? null }));
}
