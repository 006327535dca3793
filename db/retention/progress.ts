// How far the removal by age has come, by what is removed.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';

export const RETENTION_SUBJECTS = ['result', 'task', 'call', 'audit_entry'] as const;
export type RetentionSubject = (typeof RETENTION_SUBJECTS)[number];

/**
 * Records that what is older than `before` may be missing from now on. Call it before anything is removed:
 * the check of the ledger must know it first. `beforeId` is the smallest id of that moment.
 */
export async function beginRemoval(
  em: Em,
  subject: RetentionSubject,
  before: Date,
  beforeId: string,
): Promise<void> {
  await em.execute(sql`
    insert into retention as r (subject, removed_before, before_id)
    values (${subject}, ${before.toISOString()}, ${beforeId})
    on conflict (subject) do update
    set removed_before = excluded.removed_before, before_id = excluded.before_id
    where r.removed_before < excluded.removed_before`);
}

/** Records that nothing is due any more. */
export async function finishRemoval(em: Em, subject: RetentionSubject): Promise<void> {
  await em.execute(sql`update retention set finished_at = now() where subject = ${subject}`);
}

/** A part of a statement: adds the number of rows of its CTE `source` to what was removed. */
export function countRemoved(subject: RetentionSubject, source: string) {
  return sql`
    update retention set removed = removed + (select count(*) from ${sql.ref(source)}) where subject = ${subject}`;
}
