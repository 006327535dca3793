// Freezing: an account that violates an invariant spends nothing until an administrator unfreezes it.
import { sql } from '@mikro-orm/postgresql';
import { INVARIANT_CHECK, writeAuditEntry } from '../audit-log.ts';
import { DAY_RULE, USAGE_RULE, type Violation } from './rules.ts';
import type { Em } from '../database.ts';

/**
 * Freezes the accounts that violations concern, but for figures of a key's day and of summaries. Answers
 * the user ids of those that were not frozen before.
 */
export async function freezeAccounts(em: Em, violations: readonly Violation[]): Promise<string[]> {
  const rulesByUser = new Map<string, string[]>();
  for (const { userId, rule } of violations)
    if (userId !== null && rule !== DAY_RULE && rule !== USAGE_RULE)
      rulesByUser.set(userId, [...(rulesByUser.get(userId) ?? []), rule]);
  if (rulesByUser.size === 0) return [];
  return em.transactional(async (tx) => {
    const rows = await tx.execute<{ id: string }[]>(sql`
      update account set frozen_at = now(), updated_at = now()
      where frozen_at is null
        and user_id in (select jsonb_array_elements_text(${JSON.stringify([...rulesByUser.keys()])}::jsonb))
      returning user_id as id`);
    for (const { id } of rows) {
      const detail = { rules: [...new Set(rulesByUser.get(id))] };
      const target = { targetType: 'user', targetId: id };
      await writeAuditEntry(tx, INVARIANT_CHECK, { action: 'FREEZE_ACCOUNT', ...target, detail });
    }
    return rows.map(({ id }) => id);
  });
}
