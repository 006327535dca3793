// The second factor of a user: enrolled, confirmed with a first code, used once per code, removed.
import { sql } from '@mikro-orm/postgresql';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import type { Session, User } from '../entities/identity.ts';
import { deleteOtherSessions } from './ending-sessions.ts';
import { makeRecoveryCodes, useRecoveryCode } from './recovery-codes.ts';
import type { Secrets } from '../secrets.ts';
import { findTotpStep } from './totp.ts';
import type { Em } from '../database.ts';

/** Stores a secret to be confirmed, replacing an unconfirmed one; false when one is in force already. */
export async function startTotp(em: Em, secrets: Secrets, userId: string, secret: string): Promise<boolean> {
  const sealed = secrets.seal('totp', userId, secret);
  const rows = await em.execute<{ id: string }[]>(sql`
    update app_user
    set totp_secret = ${sealed.bytes}::bytea, totp_secret_key_id = ${sealed.secretKeyId}, totp_last_step = 0
    where id = ${userId} and totp_confirmed_at is null
    returning id`);
  return rows.length === 1;
}

/** The user whose factor changes, and the session that changes it. */
export interface FactorOwner {
  user: User;
  session: Session;
}

/**
 * Puts the stored secret in force if the code is right, and answers the recovery codes: their only copy. Null
 * for a wrong code, and when another request was faster. All other sessions end, and so does the step-up of
 * this one: they were gained with less than is asked for from now on.
 */
export async function confirmTotp(
  em: Em,
  secrets: Secrets,
  { user, session }: FactorOwner,
  code: string,
  origin: AuditOrigin,
): Promise<string[] | null> {
  const step = findStep(secrets, user, code);
  if (step === null) return null;
  const { texts, rows } = makeRecoveryCodes(secrets);
  return em.transactional(async (tx) => {
    const stored = await tx.execute<{ id: string }[]>(sql`
      with confirmed as (
        update app_user set totp_confirmed_at = now(), totp_last_step = ${step}
        where id = ${user.id} and totp_confirmed_at is null and totp_secret = ${user.totpSecret}::bytea
        returning id
      )
      insert into recovery_code (id, user_id, secret_key_id, hash)
      select c.id, confirmed.id, c."secretKeyId", decode(c.hash, 'hex')
      from confirmed, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as c(id text, "secretKeyId" text, hash text)
      returning id`);
    if (stored.length !== rows.length) return null;
    const sessionsEnded = await deleteOtherSessions(tx, user.id, session.id);
    await tx.execute(sql`
      update session set verified_at = null, verified_until = null, verify_method = null where id = ${session.id}`);
    await writeAuditEntry(tx, origin, {
      action: 'ENABLE_SECOND_FACTOR',
      targetType: 'user',
      targetId: user.id,
      userId: user.id,
      detail: { sessionsEnded },
    });
    return texts;
  });
}

/**
 * Removes the second factor of the user. If it was in force, all other sessions end, with an audit entry.
 */
export async function disableTotp(
  em: Em,
  { user, session }: FactorOwner,
  origin: AuditOrigin,
): Promise<void> {
  await em.transactional(async (tx) => {
    const [held] = await tx.execute<{ isOn: boolean }[]>(sql`
      select totp_confirmed_at is not null as "isOn" from app_user where id = ${user.id} for no key update`);
    await removeTotp(tx, user.id);
    if (!held?.isOn) return;
    const sessionsEnded = await deleteOtherSessions(tx, user.id, session.id);
    await writeAuditEntry(tx, origin, {
      action: 'DISABLE_SECOND_FACTOR',
      targetType: 'user',
      targetId: user.id,
      userId: user.id,
      detail: { sessionsEnded },
    });
  });
}

/** Removes the secret, in force or not, and the recovery codes. */
export async function removeTotp(em: Em, userId: string): Promise<void> {
  await em.execute(sql`
    with removed as (
      update app_user
      set totp_secret = null, totp_secret_key_id = null, totp_confirmed_at = null, totp_last_step = 0
      where id = ${userId}
      returning id
    )
    delete from recovery_code using removed where user_id = removed.id`);
}

/** Uses up a code of the app or a recovery code; false when it is wrong or was used before. */
export async function useSecondFactor(
  em: Em,
  secrets: Secrets,
  user: User,
  code: string,
  origin: AuditOrigin,
): Promise<boolean> {
  if (!user.totpConfirmedAt) return false;
  const step = findStep(secrets, user, code);
  return step === null ? useRecoveryCode(em, secrets, user.id, code, origin) : useTotpStep(em, user, step);
}

/** Uses up a time step: a code works once, and none that is older than a used one. */
async function useTotpStep(em: Em, user: User, step: bigint): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(sql`
    update app_user set totp_last_step = ${step}
    where id = ${user.id} and totp_last_step < ${step}
      and totp_confirmed_at is not null and totp_secret = ${user.totpSecret}::bytea
    returning id`);
  return rows.length === 1;
}

/** The step of a right code, else null. Gaps are ignored: apps show the six digits in two groups. */
function findStep(secrets: Secrets, user: User, code: string): bigint | null {
  const { totpSecret: bytes, totpSecretKeyId: secretKeyId } = user;
  const digits = code.replaceAll(/[\s-]/g, '');
  if (!bytes || !secretKeyId || !/^\d{6}$/.test(digits)) return null;
  return findTotpStep(secrets.decrypt('totp', user.id, { secretKeyId, bytes }), digits, Date.now());
}
