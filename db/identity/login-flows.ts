// A login between the right password and the second factor: a token that lives for minutes and works once.
import { sql } from '@mikro-orm/postgresql';
import type { AuditOrigin } from '../audit-log.ts';
import { UserEntity, type User } from '../entities/identity.ts';
import { oneOf } from '../hashes.ts';
import { makeId } from '../ids.ts';
import type { Secrets } from '../secrets.ts';
import { recordLogin } from './security-events.ts';
import { makeSession, sessionEnd } from './sessions.ts';
import { isToken, makeToken } from './tokens.ts';
import type { Em } from '../database.ts';

const LIFE_SECONDS = 5 * 60;
const FAILURES_MAX = 5;

/**
 * Begins a flow and returns its token, or null when the password that was just checked is no longer the
 * user's. The user's expired flows are removed with it.
 */
export async function createLoginFlow(em: Em, secrets: Secrets, user: User): Promise<string | null> {
  const token = makeToken(secrets, 'login-flow');
  const { secretKeyId, hash } = secrets.hash('login-flow', token);
  const rows = await em.execute<{ id: string }[]>(sql`
    with holder as (
      select id from app_user where id = ${user.id} and password_hash = ${user.passwordHash} for share
    ), removed as (
      delete from login_flow using holder where user_id = holder.id and expires_at <= now()
    )
    insert into login_flow (id, user_id, secret_key_id, hash, expires_at)
    select ${makeId('flow')}, id, ${secretKeyId}, ${hash}::bytea, now() + make_interval(secs => ${LIFE_SECONDS})
    from holder
    returning id`);
  return rows.length === 1 ? token : null;
}

/** The live flow of a token and its user, or null. */
export async function findLoginFlow(
  em: Em,
  secrets: Secrets,
  token: string,
): Promise<{ flow: { id: string; userId: string }; user: User } | null> {
  if (!isToken(secrets, 'login-flow', token)) return null;
  const [flow] = await em.execute<{ id: string; userId: string }[]>(sql`
    select id, user_id as "userId" from login_flow
    where hash = ${oneOf(secrets.hashes('login-flow', token))} and failures < ${FAILURES_MAX} and expires_at > now()`);
  const user = flow && (await em.findOne(UserEntity, { id: flow.userId }));
  return user ? { flow, user } : null;
}

/**
 * Counts a guess before it is checked, so that parallel guesses cannot overshoot; false when the flow is
 * over.
 */
export async function claimFlowGuess(em: Em, flowId: string): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(sql`
    update login_flow set failures = failures + 1
    where id = ${flowId} and failures < ${FAILURES_MAX} and expires_at > now()
    returning id`);
  return rows.length === 1;
}

/**
 * Turns the flow into a session and returns its token. Null when another request was faster. The lock on the
 * user makes this and a change of the password wait for each other, so that no session survives the change.
 */
export async function finishLoginFlow(
  em: Em,
  secrets: Secrets,
  flowId: string,
  origin: AuditOrigin,
): Promise<string | null> {
  const { token, row } = makeSession(secrets);
  return em.transactional(async (tx) => {
    const [started] = await tx.execute<{ userId: string }[]>(sql`
      with holder as (
        select u.id from app_user u join login_flow f on f.user_id = u.id where f.id = ${flowId} for share of u
      ), flow as (
        delete from login_flow using holder where login_flow.id = ${flowId} and expires_at > now()
        returning user_id
      )
      insert into session (id, user_id, secret_key_id, hash, expires_at, ip, user_agent)
      select ${row.id}, user_id, ${row.secretKeyId}, ${row.hash}::bytea, ${sessionEnd()}, ${origin.ip}, ${origin.userAgent}
      from flow
      returning user_id as "userId"`);
    if (!started) return null;
    await recordLogin(tx, origin, { ...started, sessionId: row.id, method: 'totp' });
    return token;
  });
}
