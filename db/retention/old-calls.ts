// Chat calls that are due for removal, account by account in the order of the primary key.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { countRemoved } from './progress.ts';

/** Accounts that one statement looks at. */
const ACCOUNTS_PER_LOOK = 200;

/** How far a walk over the accounts is. */
export interface CallRemoval {
  removed: number;
  /** The account to go on after; null when this was the last look. */
  after: string | null;
}

/**
 * Removes at most `limit` calls with ids before `beforeId` that are over and in the sums of usage, of the
 * next accounts after `after`. What they lost is added to the account's sum in the same statement.
 */
export async function removeCalls(
  em: Em,
  { after, beforeId, limit }: { after: string; beforeId: string; limit: number },
): Promise<CallRemoval> {
  const [row] = await em.execute<{ removed: number; seen: number; last: string | null }[]>(sql`
    with holder as materialized (
      select user_id from account where user_id > ${after} order by user_id limit ${ACCOUNTS_PER_LOOK}
    ), due as materialized (
      select c.* from holder h cross join lateral (
        select c.user_id, c.id from chat_call c
        where c.user_id = h.user_id and c.id < ${beforeId} and c.settled_at < (select until from usage_watermark)
        order by c.id limit ${limit}
      ) c limit ${limit}
    ), gone as (
      delete from chat_call c using due d where c.user_id = d.user_id and c.id = d.id returning c.user_id, c.loss
    ), summed as (
      insert into removed_call as r (user_id, calls, loss)
      select user_id, count(*), sum(loss) from gone group by user_id
      on conflict (user_id) do update set calls = r.calls + excluded.calls, loss = r.loss + excluded.loss
    ), counted as (
      ${countRemoved('call', 'gone')}
    )
    select (select count(*) from due)::int as removed, (select count(*) from holder)::int as seen,
           (select max(user_id) from holder) as last`);
  if (!row) throw new Error('the database answered nothing');
  if (row.removed === limit) return { removed: row.removed, after };
  return { removed: row.removed, after: row.seen < ACCOUNTS_PER_LOOK ? null : row.last };
}
