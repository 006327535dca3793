// Chat calls that are due for removal, account by account in the order of the primary key.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';

/** Accounts that one statement looks at. */
const ACCOUNTS_PER_LOOK = 200;

/** How far a walk over the accounts is. */
export interface CallRemoval {
  removed: number;
  /** The account to go on after; null when this was the last look. */
  after: string | null;
}

/**
 * Removes at most `limit` calls from before `before` that are over and in the sums of usage, of the next
 * accounts after `after` (`remove-calls.sql`). `beforeId` is the smallest id of that moment.
 */
export async function removeCalls(
  em: Em,
  { after, before, beforeId, limit }: { after: string; before: Date; beforeId: string; limit: number },
): Promise<CallRemoval> {
  const [row] = await em.execute<{ removed: number; seen: number; last: string | null }[]>(sql`
    select removed, seen, last from remove_calls(${after}, ${ACCOUNTS_PER_LOOK},
      ${before.toISOString()}::timestamptz, ${beforeId}, ${limit})`);
  if (!row) throw new Error('the database answered nothing');
  if (row.removed === limit) return { removed: row.removed, after };
  return { removed: row.removed, after: row.seen < ACCOUNTS_PER_LOOK ? null : row.last };
}
