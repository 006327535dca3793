// The rules of redeem codes, each as what violates it.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import type { Violation } from './rules.ts';

const USES_RULE = 'a redeem code was used as often as it was redeemed and granted';
const REASON_RULE = 'an audit entry stands behind every redeem code';
export const CODE_RULES = [USES_RULE, REASON_RULE];

/**
 * Finds the violations of redeem codes with ids after `after`, up to `upTo`. Entries of codes that are older
 * than what was removed of the audit log may have been removed with it: later releases keep them.
 */
export async function findCodeViolations(tx: Em, after: string, upTo: string): Promise<Violation[]> {
  return tx.execute<Violation[]>(sql`
    with code as materialized (
      select * from redeem_code where id > ${after} and id <= ${upTo}
    )
    select ${USES_RULE} as rule, c.id as subject, null as "userId" from code c
      where c.used_count > c.max_uses or c.used_count <> (select count(*) from redemption d where d.code_id = c.id)
    union all
    select ${REASON_RULE}, c.id, null from code c
      where not code_has_reason(c.id)
        and c.created_at >= coalesce((select removed_before from retention where subject = 'audit_entry'), '-infinity')`);
}
