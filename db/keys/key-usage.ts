// What a key has spent of its limits, and what its account still has.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import { readMicroCredits } from '../columns.ts';
import type { Em } from '../database.ts';

export interface KeyUsage {
  quota: MicroCredits | null;
  used: MicroCredits;
  reserved: MicroCredits;
  dailyBudget: MicroCredits | null;
  /** What was reserved on this UTC day: charged or still set aside. */
  spentToday: MicroCredits;
  /** When the next UTC day begins. */
  dayEndsAt: Date;
  /** What the account still has. */
  available: MicroCredits;
}

/**
 * One statement, so that all figures are of one moment, by the database's clock, which decides budgets too.
 */
export async function readKeyUsage(em: Em, keyId: string): Promise<KeyUsage> {
  const [row] = await em.execute<UsageRow[]>(sql`
    select s.quota, s.used, s.reserved + s.earmarked as reserved, s.daily_budget as "dailyBudget",
           a.balance - a.reserved - a.earmarked as available,
           case when s.day = c.today then s.day_used + s.day_reserved else 0 end + s.earmarked as "spentToday",
           extract(epoch from (c.today + 1)::timestamp at time zone 'utc')::bigint as "dayEndsAt"
    from api_key k join key_spending s on s.key_id = k.id join account a on a.user_id = k.user_id
    cross join (select (now() at time zone 'utc')::date as today) c
    where k.id = ${keyId}`);
  if (!row) throw new Error(`there is no key ${keyId}`);
  return {
    quota: row.quota === null ? null : readMicroCredits(row.quota),
    used: readMicroCredits(row.used),
    reserved: readMicroCredits(row.reserved),
    dailyBudget: row.dailyBudget === null ? null : readMicroCredits(row.dailyBudget),
    spentToday: readMicroCredits(row.spentToday),
    dayEndsAt: new Date(Number(row.dayEndsAt) * 1000),
    available: readMicroCredits(row.available),
  };
}

interface UsageRow {
  quota: string | null;
  used: string;
  reserved: string;
  dailyBudget: string | null;
  spentToday: string;
  dayEndsAt: string;
  available: string;
}
