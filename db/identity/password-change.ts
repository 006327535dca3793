// Changing the password: ends all sessions and login flows but the session that changes it.
import { sql } from '@mikro-orm/postgresql';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import type { Session, User } from '../entities/identity.ts';
import { deleteOtherSessions } from './ending-sessions.ts';
import { hashPassword } from './passwords.ts';
import type { Secrets } from '../secrets.ts';
import { makeToken } from './tokens.ts';
import type { Em } from '../database.ts';

/** Answers the session's new token; null when session or password changed in the meantime. */
export async function changePassword(
  em: Em,
  secrets: Secrets,
  owner: { user: User; session: Session },
  newPassword: string,
  origin: AuditOrigin,
): Promise<string | null> {
  const { user, session } = owner;
  const passwordHash = await hashPassword(newPassword);
  const token = makeToken(secrets, 'session');
  const { secretKeyId, hash } = secrets.hash('session', token);
  return em.transactional(async (tx) => {
    // The user's row is locked first, as wherever sessions change with it (`deleteOtherSessions`).
    const changed = await tx.execute<{ id: string }[]>(sql`
      with holder as (
        select id from app_user where id = ${user.id} and password_hash = ${user.passwordHash} for no key update
      ), rotated as (
        update session s set secret_key_id = ${secretKeyId}, hash = ${hash}::bytea
        from holder where s.id = ${session.id} and s.hash = ${session.hash}::bytea
        returning s.user_id
      )
      update app_user u set password_hash = ${passwordHash} from rotated where u.id = rotated.user_id
      returning u.id`);
    if (changed.length === 0) return null;
    const sessionsEnded = await deleteOtherSessions(tx, user.id, session.id);
    await writeAuditEntry(tx, origin, {
      action: 'CHANGE_PASSWORD',
      targetType: 'user',
      targetId: user.id,
      userId: user.id,
      detail: { sessionsEnded },
    });
    return token;
  });
}
