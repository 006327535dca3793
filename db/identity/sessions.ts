// Sessions: the cookie holds a random token, the database its keyed hash.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { SessionEntity, UserEntity, type Session, type User } from '../entities/identity.ts';
import { makeId } from '../ids.ts';
import type { KeyedHash, Secrets } from '../secrets.ts';
import type { Em } from '../database.ts';

const ABSOLUTE_LIFE_MS = 7 * 24 * 3_600_000;
const IDLE_LIFE_MS = 12 * 3_600_000;
/** The last use is written at most this often, so that most requests write nothing. */
const LAST_SEEN_STEP_MS = 60_000;

/** Starts a session and returns the token for the cookie. */
export async function createSession(em: Em, secrets: Secrets, userId: string): Promise<string> {
  const { token, row } = makeSession(secrets);
  await em.insert(SessionEntity, { ...row, userId, createdAt: new Date(), lastSeenAt: new Date() });
  return token;
}

/**
 * Starts a session for a password that was just checked. Null when it is no longer the user's. A change of
 * the password ends all sessions; the lock makes the two wait for each other, so that no session survives the
 * change.
 */
export async function createPasswordSession(em: Em, secrets: Secrets, user: User): Promise<string | null> {
  const { token, row } = makeSession(secrets);
  const rows = await em.execute<{ id: string }[]>(sql`
    with holder as (
      select id from app_user where id = ${user.id} and password_hash = ${user.passwordHash} for share
    )
    insert into session (id, user_id, secret_key_id, hash, expires_at)
    select ${row.id}, id, ${row.secretKeyId}, ${row.hash}::bytea, ${row.expiresAt.toISOString()}::timestamptz
    from holder
    returning id`);
  return rows.length === 1 ? token : null;
}

/** The live session of a token and its user, or null. */
export async function findSession(
  em: Em,
  secrets: Secrets,
  token: string,
): Promise<{ session: Session; user: User } | null> {
  if (!isToken(token)) return null;
  const now = Date.now();
  const session = await em.findOne(SessionEntity, {
    hash: { $in: secrets.hashes('session', token) },
    expiresAt: { $gt: new Date(now) },
    lastSeenAt: { $gt: new Date(now - IDLE_LIFE_MS) },
  });
  if (!session) return null;
  if (now - session.lastSeenAt.getTime() > LAST_SEEN_STEP_MS)
    await em.execute(sql`update session set last_seen_at = now() where id = ${session.id}`);
  const user = await em.findOne(UserEntity, { id: session.userId });
  return user && { session, user };
}

export async function deleteSession(em: Em, id: string): Promise<void> {
  await em.nativeDelete(SessionEntity, { id });
}

/** Ends the session of a token, if there is one. */
export async function deleteSessionOfToken(em: Em, secrets: Secrets, token: string): Promise<void> {
  if (isToken(token))
    await em.nativeDelete(SessionEntity, { hash: { $in: secrets.hashes('session', token) } });
}

/** Makes the token of a new session and its row, without the user. */
export function makeSession(secrets: Secrets): {
  token: string;
  row: KeyedHash & { id: string; expiresAt: Date };
} {
  const token = makeToken();
  const expiresAt = new Date(Date.now() + ABSOLUTE_LIFE_MS);
  return { token, row: { id: makeId('ses'), ...secrets.hash('session', token), expiresAt } };
}

/** Makes 256 random bits as a string for cookies and bodies. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Whether a text has the shape of a token; anything else cannot exist and needs no query. */
export function isToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}
