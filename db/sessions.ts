// Sessions: the cookie holds a random token, the database its keyed hash.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { SessionEntity, UserEntity, type Session, type User } from './entities/identity.ts';
import { makeId } from './ids.ts';
import type { Em } from './orm.ts';
import type { Secrets } from './secrets.ts';

const ABSOLUTE_LIFE_MS = 7 * 24 * 3_600_000;
const IDLE_LIFE_MS = 12 * 3_600_000;
/** Last use is written at most this often, so that reading does not write. */
const LAST_SEEN_STEP_MS = 60_000;

/** Starts a session and returns the token for the cookie. */
export async function createSession(em: Em, secrets: Secrets, userId: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const now = new Date();
  await em.insert(SessionEntity, {
    id: makeId('ses'),
    userId,
    ...secrets.hash('session', token),
    createdAt: now,
    lastSeenAt: now,
    expiresAt: new Date(now.getTime() + ABSOLUTE_LIFE_MS),
  });
  return token;
}

/** The live session of a token and its user, or null. */
export async function findSession(
  em: Em,
  secrets: Secrets,
  token: string,
): Promise<{ session: Session; user: User } | null> {
  if (!/^[\w-]{43}$/.test(token)) return null;
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
