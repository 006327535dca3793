// Audit entries that are due for removal. The table refuses any other removal.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { countRemoved } from './progress.ts';

/** Removes at most `limit` entries from before `before`, oldest first. Answers how many. */
export async function removeAuditEntries(
  em: Em,
  { before, beforeId, limit }: { before: Date; beforeId: string; limit: number },
): Promise<number> {
  return em.transactional(async (tx) => {
    await tx.execute(sql`select set_config('svc.audit_removed_before', ${before.toISOString()}, true)`);
    const [row] = await tx.execute<{ removed: number }[]>(sql`
      with gone as (
        delete from audit_entry
        where id in (select id from audit_entry where id < ${beforeId} and created_at < ${before.toISOString()}::timestamptz
                     order by id limit ${limit})
        returning id
      ), counted as (
        ${countRemoved('audit_entry', 'gone')}
      )
      select count(*)::int as removed from gone`);
    return row?.removed ?? 0;
  });
}
