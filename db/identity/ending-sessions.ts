// Ending sessions: one, all others, all or the expired, with the half-finished logins that would become new
// ones.
import { sql } from '@mikro-orm/postgresql';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import type { Em } from '../database.ts';

/** Ends one session of a user with an audit entry; false when there is none, or it is another user's. */
export async function endOwnSession(
  em: Em,
  origin: AuditOrigin,
  userId: string,
  id: string,
): Promise<boolean> {
  return em.transactional(async (tx) => {
    const ended = await tx.execute<{ id: string }[]>(sql`
      delete from session where id = ${id} and user_id = ${userId} returning id`);
    if (ended.length === 0) return false;
    const target = { targetType: 'session', targetId: id };
    await writeAuditEntry(tx, origin, {
      action: 'END_SESSIONS',
      ...target,
      userId,
      detail: { sessionsEnded: 1 },
    });
    return true;
  });
}

/** Ends all sessions of a user but this one, with an audit entry if there were any. Returns how many. */
export async function endOtherSessions(
  em: Em,
  origin: AuditOrigin,
  owner: { userId: string; sessionId: string },
): Promise<number> {
  const { userId, sessionId } = owner;
  return em.transactional(async (tx) => {
    await tx.execute(sql`select 1 from app_user where id = ${userId} for no key update`);
    const sessionsEnded = await deleteOtherSessions(tx, userId, sessionId);
    if (sessionsEnded > 0)
      await writeAuditEntry(tx, origin, {
        action: 'END_SESSIONS',
        targetType: 'user',
        targetId: userId,
        userId,
        detail: { sessionsEnded },
      });
    return sessionsEnded;
  });
}

/** Removes sessions and half-finished logins whose time is over. */
export async function removeExpiredSessions(em: Em): Promise<void> {
  await em.execute(sql`delete from session where expires_at < now()`);
  await em.execute(sql`delete from login_flow where expires_at < now()`);
}

/**
 * Deletes the user's sessions but `keptId` (null: all of them) and all login flows; returns how many
 * sessions. Call it in the transaction of the reason, after that has locked the user's row: wherever sessions
 * change with it, the row is locked first, so that a login is waited for and two changes cannot deadlock.
 */
export async function deleteOtherSessions(tx: Em, userId: string, keptId: string | null): Promise<number> {
  await tx.execute(sql`delete from login_flow where user_id = ${userId}`);
  const ended = await tx.execute<{ id: string }[]>(sql`
    delete from session where user_id = ${userId} and id is distinct from ${keptId} returning id`);
  return ended.length;
}
