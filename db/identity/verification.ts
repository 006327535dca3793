// Step-up verification of a session: guesses are counted before they are checked.
import { sql } from '@mikro-orm/postgresql';
import type { Session } from '../entities/identity.ts';
import type { Secrets } from '../secrets.ts';
import { makeToken } from './tokens.ts';
import type { Em } from '../database.ts';

export const VERIFICATION_FAILURES_MAX = 5;
export const VERIFICATION_LOCK_SECONDS = 15 * 60;
const VERIFICATION_SECONDS = 10 * 60;

/** `resetMs`: how long no answer is checked; with `last`, how long that will be if this guess is wrong. */
export type VerifyGuess =
  | { kind: 'admitted' }
  | { kind: 'last'; resetMs: number }
  | { kind: 'locked'; resetMs: number };

/**
 * Counts a guess as wrong until it turns out right, so that parallel guesses cannot overshoot: the fifth
 * locks at once, and no guess is checked until the lock is over. Only the user's own sessions can guess, so
 * that others cannot cause a lock.
 */
export async function claimVerifyGuess(em: Em, userId: string): Promise<VerifyGuess> {
  const [claimed] = await em.execute<{ resetMs: number | null }[]>(sql`
    update app_user
    set verify_failures = case when verify_locked_until is null then verify_failures + 1 else 1 end,
        verify_locked_until = case
          when verify_locked_until is null and verify_failures + 1 >= ${VERIFICATION_FAILURES_MAX}::int
          then now() + make_interval(secs => ${VERIFICATION_LOCK_SECONDS}) end
    where id = ${userId} and (verify_locked_until is null or verify_locked_until <= now())
    returning ${resetMs} as "resetMs"`);
  if (!claimed) return { kind: 'locked', resetMs: await readLock(em, userId) };
  return claimed.resetMs === null
    ? { kind: 'admitted' }
    : { kind: 'last', resetMs: Math.max(0, claimed.resetMs) };
}

/**
 * Marks the session as verified, under a new token, and resets the count of wrong answers. The old token is
 * void. Null when the session has ended or changed its token in the meantime.
 */
export async function verifySession(
  em: Em,
  secrets: Secrets,
  session: Session,
  method: 'password' | 'totp',
): Promise<{ token: string; verifiedAt: Date; expiresAt: Date } | null> {
  const token = makeToken(secrets, 'session');
  const { secretKeyId, hash } = secrets.hash('session', token);
  const [row] = await em.execute<{ verifiedAt: string; expiresAt: string }[]>(sql`
    with forgotten as (
      update app_user set verify_failures = 0, verify_locked_until = null where id = ${session.userId} returning id
    )
    update session s
    set secret_key_id = ${secretKeyId}, hash = ${hash}::bytea, verify_method = ${method},
        verified_at = now(), verified_until = now() + make_interval(secs => ${VERIFICATION_SECONDS})
    from forgotten
    where s.user_id = forgotten.id and s.id = ${session.id} and s.hash = ${session.hash}::bytea
    returning s.verified_at as "verifiedAt", s.verified_until as "expiresAt"`);
  return row ? { token, verifiedAt: new Date(row.verifiedAt), expiresAt: new Date(row.expiresAt) } : null;
}

const resetMs = sql`(extract(epoch from verify_locked_until - now()) * 1000)::int`;

/** Milliseconds until the lock ends; 0 when a right answer has ended it by now. */
async function readLock(em: Em, userId: string): Promise<number> {
  const [row] = await em.execute<{ resetMs: number | null }[]>(sql`
    select ${resetMs} as "resetMs" from app_user where id = ${userId}`);
  return Math.max(0, row?.resetMs ?? 0);
}
