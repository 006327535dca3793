// What administrators do with users. A change and its audit entry share a transaction; no change, no entry.
import { sql } from '@mikro-orm/postgresql';
import { BALANCE_MAX, toCredits, type MicroCredits } from '../../domain/credits.ts';
import type { Permission } from '../../domain/permissions.ts';
import type { JsonValue } from '../../domain/json.ts';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import { lockUntilEnd } from '../advisory-lock.ts';
import { UserEntity, type User } from '../entities/identity.ts';
import { makeId } from '../ids.ts';
import { grant, type LedgerMove } from '../ledger/ledger.ts';
import { deleteOtherSessions } from './ending-sessions.ts';
import { hashPassword } from './passwords.ts';
import { insertUser, normaliseEmail } from './users.ts';
import type { Em } from '../database.ts';

/** The permission that makes administrators: its owner gives and takes the others. */
const ADMINISTERS: Permission = 'users.write';

export interface UserChanges {
  permissions?: readonly string[] | undefined;
  disabled?: boolean | undefined;
  password?: string | undefined;
  /** Only the check of the invariants freezes; administrators unfreeze. */
  frozen?: false | undefined;
}

/** Creates a user with an audit entry. Returns null when the e-mail address is taken. */
export async function addUser(
  em: Em,
  origin: AuditOrigin,
  input: { email: string; password: string; permissions: readonly string[] },
): Promise<User | null> {
  const { email, permissions } = input;
  const passwordHash = await hashPassword(input.password);
  return em.transactional(async (tx) => {
    const id = await insertUser(tx, { email, permissions, passwordHash });
    if (id === null) return null;
    const detail = { email: normaliseEmail(email), permissions: [...permissions] };
    await writeAuditEntry(tx, origin, { action: 'CREATE_USER', targetType: 'user', targetId: id, detail });
    return tx.findOneOrFail(UserEntity, { id });
  });
}

/**
 * Changes a user, if `mayChange` allows it: the question is asked under the lock of the user's row, so that
 * its answer still holds at the change. The last administrator stays one. A new password ends all sessions.
 * A disabled user's sessions stay, so that requests can be told why they are refused, and end when the user
 * is enabled again.
 */
export async function changeUser(
  em: Em,
  origin: AuditOrigin,
  id: string,
  changes: UserChanges,
  mayChange: (user: User) => boolean,
): Promise<User | 'not_found' | 'refused' | 'last_administrator'> {
  const passwordHash = changes.password === undefined ? null : await hashPassword(changes.password);
  return em.transactional(async (tx) => {
    // Not `for update`: a redemption that has locked the account, for which this waits, still has to name
    // its user.
    await tx.execute(sql`select 1 from app_user where id = ${id} for no key update`);
    const user = await tx.findOne(UserEntity, { id }, { refresh: true });
    if (!user) return 'not_found';
    const isAllowed = mayChange(user);
    const isOwn = origin.actorId === id;
    if ((isAllowed || isOwn) && (await isLastAdministrator(tx, user, changes))) return 'last_administrator';
    if (!isAllowed) return 'refused';
    const detail = await updateUser(tx, id, changes, passwordHash);
    if (passwordHash !== null || detail?.['disabled'] === false) await deleteOtherSessions(tx, id, null);
    if (detail)
      await writeAuditEntry(tx, origin, {
        action: 'UPDATE_USER',
        targetType: 'user',
        targetId: id,
        userId: id,
        detail,
      });
    if (changes.frozen === false) await unfreezeAccount(tx, origin, id);
    return tx.findOneOrFail(UserEntity, { id }, { refresh: true });
  });
}

/**
 * Sets the password, ends all sessions and lifts the lock of failed verifications. Call it in a transaction.
 */
export async function replacePassword(tx: Em, userId: string, passwordHash: string): Promise<void> {
  await tx.execute(sql`
    update app_user set password_hash = ${passwordHash}, verify_failures = 0, verify_locked_until = null
    where id = ${userId}`);
  await deleteOtherSessions(tx, userId, null);
}

/** Unfreezes with an audit entry. Call it in a transaction. Returns false when the account was not frozen. */
export async function unfreezeAccount(tx: Em, origin: AuditOrigin, userId: string): Promise<boolean> {
  const rows = await tx.execute<{ id: string }[]>(sql`
    update account set frozen_at = null, updated_at = now() where user_id = ${userId} and frozen_at is not null
    returning user_id as id`);
  if (rows.length === 0) return false;
  await writeAuditEntry(tx, origin, { action: 'UNFREEZE_ACCOUNT', targetType: 'user', targetId: userId });
  return true;
}

/** Grants credits with an audit entry. The user reads `note` in the ledger. */
export async function grantCredits(
  em: Em,
  origin: AuditOrigin,
  input: { userId: string; credits: MicroCredits; note: string },
): Promise<LedgerMove | 'not_found' | 'balance_limit'> {
  const { userId, credits, note } = input;
  return em.transactional(async (tx) => {
    const [account] = await tx.execute<{ fits: boolean }[]>(sql`
      select balance + ${credits} <= ${BALANCE_MAX} as fits from account where user_id = ${userId} for update`);
    if (!account) return 'not_found';
    if (!account.fits) return 'balance_limit';
    const move = await grant(tx, {
      userId,
      amount: credits,
      idempotencyKey: `grant:${makeId('led')}`,
      description: note,
      requestId: origin.requestId,
    });
    const detail = { credits: toCredits(credits), note, ledgerEntryId: move.transferId };
    await writeAuditEntry(tx, origin, {
      action: 'GRANT_CREDITS',
      targetType: 'user',
      targetId: userId,
      detail,
    });
    return move;
  });
}

/**
 * Whether this change would leave no enabled user who may change users. From here on to the end of the
 * transaction, no other change can take such a user away.
 */
async function isLastAdministrator(tx: Em, user: User, changes: UserChanges): Promise<boolean> {
  const stays = changes.permissions === undefined || changes.permissions.includes(ADMINISTERS);
  const isOne = user.permissions.includes(ADMINISTERS) && !user.disabledAt;
  if (!isOne || (stays && !changes.disabled)) return false;
  await lockUntilEnd(tx, 'administrators', '');
  const [row] = await tx.execute<{ others: boolean }[]>(sql`
    select exists (
      select from app_user where id <> ${user.id} and disabled_at is null and ${ADMINISTERS} = any(permissions)
    ) as others`);
  return !row?.others;
}

/** What changed, for the audit entry; null when everything was so before. */
async function updateUser(
  tx: Em,
  id: string,
  { permissions, disabled }: UserChanges,
  passwordHash: string | null,
): Promise<{ [name: string]: JsonValue } | null> {
  const newPermissions = permissions === undefined ? null : JSON.stringify(permissions);
  const [changed] = await tx.execute<{ permissions: boolean; disabled: boolean }[]>(sql`
    with wanted as (
      select u.id, u.permissions as had, u.disabled_at is not null as was,
        case when ${newPermissions}::jsonb is null then u.permissions
             else array(select jsonb_array_elements_text(${newPermissions}::jsonb)) end as permissions,
        coalesce(${disabled ?? null}::boolean, u.disabled_at is not null) as disabled
      from app_user u where u.id = ${id}
    )
    update app_user u
    set permissions = w.permissions, password_hash = coalesce(${passwordHash}, u.password_hash),
        disabled_at = case when w.disabled then coalesce(u.disabled_at, now()) end
    from wanted w
    where u.id = w.id and (w.permissions <> w.had or w.disabled <> w.was or ${passwordHash !== null})
    returning w.permissions <> w.had as permissions, w.disabled <> w.was as disabled`);
  if (!changed) return null;
  return {
    ...(changed.permissions && permissions && { permissions: [...permissions] }),
    ...(changed.disabled && { disabled: Boolean(disabled) }),
    ...(passwordHash !== null && { passwordChanged: true }),
  };
}
