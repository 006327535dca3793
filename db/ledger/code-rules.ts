// The rule of redeem codes, as what violates it.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import type { Violation } from './rules.ts';

export const CODE_RULE = 'a redeem code was used as often as it was redeemed and granted';

/** Finds the violations of redeem codes with ids after `after`, up to `upTo`. */
export async function findCodeViolations(tx: Em, after: string, upTo: string): Promise<Violation[]> {
  return tx.execute<Violation[]>(sql`
    select ${CODE_RULE} as rule, c.id as subject, null as "userId"
    from redeem_code c
    where c.id > ${after} and c.id <= ${upTo}
      and (c.used_count > c.max_uses or c.used_count <> (select count(*) from redemption d where d.code_id = c.id))`);
}
