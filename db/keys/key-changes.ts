// Changing and revoking API keys, with the audit entries that their owner reads.
import { sql } from '@mikro-orm/postgresql';
import type { JsonValue } from '../../domain/json.ts';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import {
  describeLimits,
  findOwnKey,
  lockSpending,
  storeScope,
  type KeyLimits,
  type Optional,
  type OwnKey,
} from './api-keys.ts';
import type { Em } from '../database.ts';

export type KeyChanges = Optional<KeyLimits & { name: string }>;

/** Why a key was not changed; `may_not_widen`: a limit would be raised or removed. */
export type KeyChangeRefusal = 'not_found' | 'revoked' | 'may_not_widen';

/**
 * Changes the given fields of a key that is not revoked; null removes a limit. Raising or removing a limit
 * needs `mayWiden`: decided under the lock of the row, so that parallel changes cannot add up to more.
 * Answers the changed key. Changed limits leave an audit entry, a new name does not.
 */
export async function changeKey(
  em: Em,
  owner: { userId: string; origin: AuditOrigin; mayWiden: boolean },
  id: string,
  changes: KeyChanges,
): Promise<OwnKey | KeyChangeRefusal> {
  const { userId, origin, mayWiden } = owner;
  const { name, quota, dailyBudget, modelScope, expiresAt } = changes;
  return em.transactional(async (tx) => {
    await lockSpending(tx, id);
    const before = await findOwnKey(tx, userId, id);
    if (!before) return 'not_found';
    if (before.key.revokedAt) return 'revoked';
    if (!mayWiden && isWidened(before, changes)) return 'may_not_widen';
    const detail = describeChanges(before, changes);
    await tx.execute(sql`
      update api_key
      set name = coalesce(${name ?? null}, name),
          model_scope = case when ${modelScope === undefined} then model_scope else ${storeScope(modelScope)} end,
          expires_at = case when ${expiresAt === undefined} then expires_at else ${expiresAt ?? null}::timestamptz end
      where id = ${id}`);
    await tx.execute(sql`
      update key_spending
      set quota = case when ${quota === undefined} then quota else ${quota ?? null}::bigint end,
          daily_budget = case when ${dailyBudget === undefined} then daily_budget else ${dailyBudget ?? null}::bigint end
      where key_id = ${id}`);
    if (Object.keys(detail).length > 0)
      await writeAuditEntry(tx, origin, {
        action: 'UPDATE_API_KEY',
        targetType: 'api_key',
        targetId: id,
        userId,
        detail: { name: name ?? before.key.name, ...detail },
      });
    return (await findOwnKey(tx, userId, id)) ?? 'not_found';
  });
}

/** Revokes a key: once committed, it spends nothing. Answers the key, also when it was revoked before. */
export async function revokeKey(
  em: Em,
  { userId, origin }: { userId: string; origin: AuditOrigin },
  id: string,
): Promise<OwnKey | null> {
  return em.transactional(async (tx) => {
    await lockSpending(tx, id);
    const [revoked] = await tx.execute<{ name: string }[]>(sql`
      update api_key set revoked_at = now() where id = ${id} and user_id = ${userId} and revoked_at is null
      returning name`);
    if (revoked)
      await writeAuditEntry(tx, origin, {
        action: 'REVOKE_API_KEY',
        targetType: 'api_key',
        targetId: id,
        userId,
        detail: { name: revoked.name },
      });
    return findOwnKey(tx, userId, id);
  });
}

/** Whether the key could spend more, on more or for longer afterwards. */
function isWidened(
  { key, spending }: OwnKey,
  { quota, dailyBudget, modelScope, expiresAt }: KeyChanges,
): boolean {
  const scope = key.modelScope;
  return (
    isRaised(spending.quota, quota) ||
    isRaised(spending.dailyBudget, dailyBudget) ||
    isRaised(key.expiresAt, expiresAt) ||
    (modelScope !== undefined && Boolean(scope) && !modelScope?.every((model) => scope?.includes(model)))
  );
}

/** Whether a limit rises or is removed; undefined leaves it as it is. */
function isRaised<Limit extends bigint | Date>(
  before: Limit | null | undefined,
  after: Limit | null | undefined,
): boolean {
  if (after === undefined || before === null || before === undefined) return false;
  return after === null || after > before;
}

/** The limits that are others than before. */
function describeChanges({ key, spending }: OwnKey, changes: KeyChanges): { [name: string]: JsonValue } {
  const { quota = null, dailyBudget = null } = spending;
  const { modelScope = null, expiresAt = null } = key;
  const had = describeLimits({ quota, dailyBudget, modelScope, expiresAt });
  const wanted = Object.entries(describeLimits(changes));
  return Object.fromEntries(
    wanted.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(had[name])),
  );
}
