// The rule that rows about money belong to accounts.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import type { Violation } from './rules.ts';

export const STRANGER_RULE = 'every reservation, task and transfer has its account';

/** Most rows of unknown users that one look reports. */
const STRANGERS_MAX = 1_000;

/**
 * Finds users after `after`, up to `upTo` (null: to the last), whose rows belong to no account. Jumps from
 * user to user in each index, whatever the number of their rows.
 */
export async function findStrangers(tx: Em, after: string, upTo: string | null): Promise<Violation[]> {
  const isWithin = upTo === null ? sql`met.id is not null` : sql`met.id <= ${upTo}`;
  const jump = (table: string, column: string) => sql`
    select id from (
      with recursive met as (
        (select ${sql.ref(column)} as id from ${sql.ref(table)}
         where ${sql.ref(column)} > ${after} order by ${sql.ref(column)} limit 1)
        union all
        select (select r.${sql.ref(column)} from ${sql.ref(table)} r
                where r.${sql.ref(column)} > met.id order by r.${sql.ref(column)} limit 1)
        from met where ${isWithin}
      )
      select met.id from met where ${isWithin}
    ) jumped`;
  return tx.execute<Violation[]>(sql`
    select distinct ${STRANGER_RULE} as rule, r.id as subject, null as "userId"
    from (${jump('ledger_transfer', 'account_id')} union all ${jump('chat_call', 'user_id')}
          union all ${jump('task_attempt', 'user_id')} union all ${jump('task', 'user_id')}) r
    where not exists (select from account a where a.user_id = r.id)
    order by r.id limit ${STRANGERS_MAX}`);
}
