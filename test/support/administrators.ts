// Administrators for tests: users with permissions, whose session has completed /api/verify or not.
import { sql } from '@mikro-orm/postgresql';
import { PERMISSIONS, type Permission } from '../../domain/permissions.ts';
import type { TestGateway, TestUser } from './servers/gateway.ts';

/** Creates a user with these permissions, by default all, whose session is verified for five more minutes. */
export async function createAdministrator(
  gateway: TestGateway,
  permissions: readonly Permission[] = PERMISSIONS,
): Promise<TestUser> {
  const user = await gateway.createUser(0);
  await setPermissions(gateway, user, permissions);
  await setVerified(gateway, user, true);
  return user;
}

export async function setPermissions(
  gateway: TestGateway,
  user: TestUser,
  permissions: readonly Permission[],
): Promise<void> {
  await gateway.em().execute(sql`
    update app_user set permissions = array(select jsonb_array_elements_text(${JSON.stringify(permissions)}::jsonb))
    where id = ${user.id}`);
}

/** Puts the session into the state after /api/verify; false: into the state after that has expired. */
export async function setVerified(gateway: TestGateway, user: TestUser, isVerified: boolean): Promise<void> {
  await gateway.em().execute(sql`
    update session
    set verified_at = now() - interval '5 minutes', verify_method = 'password',
        verified_until = now() + make_interval(mins => ${isVerified ? 5 : -1})
    where user_id = ${user.id}`);
}

/**
 * Entries of the audit log, of one target or all, oldest first. Without those of credits that tests give
 * their users, which have no note.
 */
export async function readAudit(gateway: TestGateway, targetId?: string): Promise<AuditRow[]> {
  const only = targetId === undefined ? sql`true` : sql`target_id = ${targetId}`;
  return gateway.em().execute<AuditRow[]>(sql`
    select action, actor_id as "actorId", target_id as "targetId", detail from audit_entry
    where ${only} and (action <> 'GRANT_CREDITS' or detail ->> 'note' is not null) order by id`);
}

export interface AuditRow {
  action: string;
  actorId: string | null;
  targetId: string;
  detail: Record<string, unknown>;
}

/** Creates a redeem code; resolves to its entry with the code itself. */
export async function makeCode(administrator: TestUser, fields: object = {}): Promise<MadeCode> {
  const answer = await administrator.session.post('/api/admin/redeem-codes', {
    label: 'Spring',
    credits: 10,
    ...fields,
  });
  if (answer.status !== 201) throw new Error(`no code was made: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

export interface MadeCode {
  id: string;
  code: string;
  label: string;
  credits: number;
  maxUses: number;
  usedCount: number;
  expiresAt: string | null;
  disabledAt: string | null;
}
