// Audit entries that are due for removal. Processes have no other way to remove one.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';

/**
 * Removes at most `limit` entries from before `before`, oldest first (`remove-audit-entries.sql`). Answers
 * how many.
 */
export async function removeAuditEntries(
  em: Em,
  { before, beforeId, limit }: { before: Date; beforeId: string; limit: number },
): Promise<number> {
  const [row] = await em.execute<{ removed: number }[]>(sql`
    select remove_audit_entries(${before.toISOString()}::timestamptz, ${beforeId}, ${limit}) as removed`);
  return row?.removed ?? 0;
}
