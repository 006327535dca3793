// The sums of usage against their own marks, in full: for the check by hand.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { USAGE_RULE, type Violation } from './rules.ts';

/**
 * Finds accounts of these whose sums by quarter of an hour do not add up to what their mark says. With that
 * and the rule that holds the mark against the ledger, a summary over all time is the ledger's sum.
 */
export async function findUsageViolations(tx: Em, userIds: readonly string[]): Promise<Violation[]> {
  return tx.execute<Violation[]>(sql`
    select ${USAGE_RULE} as rule, i.id as subject, i.id as "userId"
    from jsonb_array_elements_text(${JSON.stringify(userIds)}::jsonb) i (id) left join usage_mark m on m.user_id = i.id
    where (select coalesce(sum(r.credits), 0) from usage_rollup r where r.user_id = i.id) <> coalesce(m.charged, 0)`);
}

/** Whether the sums of all users together, and those by day, add up to those of each user. */
export async function findTotalViolations(tx: Em): Promise<Violation[]> {
  return tx.execute<Violation[]>(sql`
    select ${USAGE_RULE} as rule, v.subject, null as "userId"
    from (select coalesce(sum(charged), 0) from usage_mark) m (charged) cross join (
      select 'all users' as subject, coalesce(sum(credits), 0) as credits from usage_rollup where user_id = ''
      union all
      select 'days', coalesce(sum(credits), 0) from usage_day
    ) v where v.credits <> m.charged`);
}
