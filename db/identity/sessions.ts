// Sessions: the cookie holds a random token, the database its keyed hash. Its clock decides when they end.
import { sql } from '@mikro-orm/postgresql';
import type { AuditOrigin } from '../audit-log.ts';
import { SessionEntity, UserEntity, type Session, type User } from '../entities/identity.ts';
import { oneOf } from '../hashes.ts';
import { makeId } from '../ids.ts';
import type { KeyedHash, Secrets } from '../secrets.ts';
import { recordLogin } from './security-events.ts';
import { isToken, makeToken } from './tokens.ts';
import type { Em } from '../database.ts';
import { readRow } from '../read-row.ts';

/** Life of a session, however much it is used. */
export const SESSION_SECONDS_MAX = 7 * 24 * 3600;
const IDLE_SECONDS_MAX = 12 * 3600;
/** The last use is written at most this often, so that most requests write nothing. */
const LAST_SEEN_STEP_SECONDS = 60;

/** A live session with its user. */
export interface FoundSession {
  session: Session;
  user: User;
  /** Whether the step-up verification of this session is in force. */
  isVerified: boolean;
}

/** Where a request came from. */
export type SeenFrom = Pick<AuditOrigin, 'ip' | 'userAgent'>;

/** Starts a session and returns the token for the cookie. */
export async function createSession(em: Em, secrets: Secrets, userId: string): Promise<string> {
  const { token, row } = makeSession(secrets);
  await em.execute(sql`
    insert into session (id, user_id, secret_key_id, hash, expires_at)
    values (${row.id}, ${userId}, ${row.secretKeyId}, ${row.hash}::bytea, ${sessionEnd()})`);
  return token;
}

/**
 * Starts a session for a password that was just checked. Null when it is no longer the user's, or no longer
 * enough. A change of the password or of the second factor ends other sessions; the lock makes the two wait
 * for each other, so that no session survives the change.
 */
export async function createPasswordSession(
  em: Em,
  secrets: Secrets,
  user: User,
  origin: AuditOrigin,
): Promise<string | null> {
  const { token, row } = makeSession(secrets);
  return em.transactional(async (tx) => {
    const rows = await tx.execute<{ id: string }[]>(sql`
      with holder as (
        select id from app_user
        where id = ${user.id} and password_hash = ${user.passwordHash} and totp_confirmed_at is null
        for share
      )
      insert into session (id, user_id, secret_key_id, hash, expires_at, ip, user_agent)
      select ${row.id}, id, ${row.secretKeyId}, ${row.hash}::bytea, ${sessionEnd()}, ${origin.ip}, ${origin.userAgent}
      from holder
      returning id`);
    if (rows.length === 0) return null;
    await recordLogin(tx, origin, { userId: user.id, sessionId: row.id, method: 'password' });
    return token;
  });
}

/**
 * Finds the live session of a token and its user; null without one. A token that was never made costs no
 * query. Now and then notes that the session was used, and from where.
 */
export async function findSession(
  em: Em,
  secrets: Secrets,
  token: string,
  from: SeenFrom = { ip: null, userAgent: null },
): Promise<FoundSession | null> {
  if (!isToken(secrets, 'session', token)) return null;
  const [row] = await em.execute<SessionRow[]>(sql`
    select *, coalesce(verified_until > now(), false) as "isFresh",
           last_seen_at < now() - make_interval(secs => ${LAST_SEEN_STEP_SECONDS}) as "isDue"
    from session s where hash = ${oneOf(secrets.hashes('session', token))} and ${isLive()}`);
  if (!row) return null;
  const { isFresh, isDue, ...columns } = row;
  const session = readRow(em, SessionEntity, columns);
  if (isDue)
    await em.execute(sql`
      update session set last_seen_at = now(), ip = coalesce(${from.ip}, ip),
             user_agent = coalesce(${from.userAgent}, user_agent)
      where id = ${session.id}`);
  const user = await em.findOne(UserEntity, { id: session.userId });
  return user && { session, user, isVerified: isFresh && isStrongEnough(session, user) };
}

type SessionRow = Record<string, unknown> & { isFresh: boolean; isDue: boolean };

/** The live sessions of a user, newest first, older than the session `beforeId` if given; at most `limit`. */
export async function listOwnSessions(
  em: Em,
  userId: string,
  page: { limit: number; beforeId: string | null },
): Promise<Session[]> {
  const before = page.beforeId === null ? sql`` : sql`and s.id < ${page.beforeId}`;
  const rows = await em.execute<Record<string, unknown>[]>(sql`
    select * from session s where user_id = ${userId} and ${isLive()} ${before} order by id desc limit ${page.limit}`);
  return rows.map((row) => readRow(em, SessionEntity, row));
}

export async function deleteSession(em: Em, id: string): Promise<void> {
  await em.nativeDelete(SessionEntity, { id });
}

/** Ends the session of a token, if there is one. */
export async function deleteSessionOfToken(em: Em, secrets: Secrets, token: string): Promise<void> {
  if (isToken(secrets, 'session', token))
    await em.nativeDelete(SessionEntity, { hash: { $in: secrets.hashes('session', token) } });
}

/** Makes the token of a new session and its row, without the user. */
export function makeSession(secrets: Secrets): { token: string; row: KeyedHash & { id: string } } {
  const token = makeToken(secrets, 'session');
  return { token, row: { id: makeId('ses'), ...secrets.hash('session', token) } };
}

/** The end of a session that begins now, as an expression. */
export function sessionEnd() {
  return sql`now() + make_interval(secs => ${SESSION_SECONDS_MAX})`;
}

/** The condition of a live session, in a statement that names the table `s`. */
export function isLive() {
  return sql`s.expires_at > now() and s.last_seen_at > now() - make_interval(secs => ${IDLE_SECONDS_MAX})`;
}

/** A verification by password is worth nothing once the user has a second factor. */
function isStrongEnough({ verifyMethod }: Session, { totpConfirmedAt }: User): boolean {
  return verifyMethod === 'totp' || !totpConfirmedAt;
}
