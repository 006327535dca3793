// Locks by name, for what must happen one after the other although it touches no common row.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import type { Em } from './database.ts';

/** What is serialised; with the id of a user or a family it is the lock's name. */
type LockKind = 'queue' | 'running' | 'keys' | 'uploads' | 'credentials' | 'administrators' | 'webhooks';

/** Waits until no other transaction holds the lock, and holds it until `tx` ends. */
export async function lockUntilEnd(tx: Em, kind: LockKind, id: string): Promise<void> {
  await tx.execute(sql`select ${advisoryLock(kind, sql`${id}`)}`);
}

/** The same as an expression, for a statement that knows the id only as a column. */
export function advisoryLock(kind: LockKind, id: RawQueryFragment): RawQueryFragment {
  return sql`pg_advisory_xact_lock(hashtextextended(${`${kind}:`}::text || ${id}::text, 0))`;
}
