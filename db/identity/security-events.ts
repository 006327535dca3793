// What a user reads about their own security: the audit entries that concern their login, factors and keys.
import { sql } from '@mikro-orm/postgresql';
import { readAuditEntries, writeAuditEntry, type AuditOrigin, type AuditRecord } from '../audit-log.ts';
import type { Em } from '../database.ts';

/** Writes the entry of a login, in its transaction: also whether the user logged in from there before. */
export async function recordLogin(
  tx: Em,
  origin: AuditOrigin,
  login: { userId: string; sessionId: string; method: 'password' | 'totp' },
): Promise<void> {
  const { userId, sessionId, method } = login;
  const [row] = await tx.execute<{ isKnownAddress: boolean }[]>(sql`
    select exists (select from audit_entry where user_id = ${userId} and action = 'LOG_IN' and ip = ${origin.ip})
           as "isKnownAddress"`);
  await writeAuditEntry(tx, origin, {
    action: 'LOG_IN',
    targetType: 'session',
    targetId: sessionId,
    userId,
    detail: { method, isKnownAddress: row?.isKnownAddress ?? false },
  });
}

/** Writes that too many wrong verifications have locked the step-up of the user who makes the request. */
export async function recordVerificationLock(em: Em, origin: AuditOrigin, userId: string): Promise<void> {
  await writeAuditEntry(em, origin, {
    action: 'LOCK_VERIFICATION',
    targetType: 'user',
    targetId: userId,
    userId,
  });
}

/** Events of one user, newest first, older than the entry `beforeId` if given; at most `limit`. */
export async function listSecurityEvents(
  em: Em,
  userId: string,
  page: { limit: number; beforeId: string | null },
): Promise<AuditRecord[]> {
  const before = page.beforeId === null ? {} : { id: { $lt: page.beforeId } };
  return readAuditEntries(em, { userId, ...before }, page.limit);
}
