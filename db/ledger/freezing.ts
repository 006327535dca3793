// Freezing: an account that violates an invariant spends nothing until an administrator unfreezes it.
import { sql } from '@mikro-orm/postgresql';
import { INVARIANT_CHECK, writeAuditEntry } from '../audit-log.ts';
import { isOneItemsFault } from '../batching.ts';
import { DAY_RULE, USAGE_RULE, type Violation } from './rules.ts';
import type { Em } from '../database.ts';

/**
 * Freezes the accounts that violations concern, but for figures of a key's day and of summaries. Answers
 * the user ids of those that were not frozen before. Each account by itself: one that something else holds
 * keeps no other from being frozen, and nothing waits here for one account while it holds another. The next
 * check finds it again.
 */
export async function freezeAccounts(em: Em, violations: readonly Violation[]): Promise<string[]> {
  const rulesByUser = new Map<string, string[]>();
  for (const { userId, rule } of violations)
    if (userId !== null && rule !== DAY_RULE && rule !== USAGE_RULE)
      rulesByUser.set(userId, [...(rulesByUser.get(userId) ?? []), rule]);
  const frozen: string[] = [];
  for (const [userId, rules] of rulesByUser) {
    try {
      if (await freezeAccount(em, userId, rules)) frozen.push(userId);
    } catch (error) {
      if (!isOneItemsFault(error)) throw error;
    }
  }
  return frozen;
}

/** False when the account was frozen before. */
async function freezeAccount(em: Em, userId: string, rules: readonly string[]): Promise<boolean> {
  return em.fork().transactional(async (tx) => {
    const rows = await tx.execute<{ id: string }[]>(sql`
      update account set frozen_at = now(), updated_at = now() where user_id = ${userId} and frozen_at is null
      returning user_id as id`);
    if (rows.length === 0) return false;
    const detail = { rules: [...new Set(rules)] };
    await writeAuditEntry(tx, INVARIANT_CHECK, {
      action: 'FREEZE_ACCOUNT',
      targetType: 'user',
      targetId: userId,
      detail,
    });
    return true;
  });
}
