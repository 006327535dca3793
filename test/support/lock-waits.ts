// Waits until statements of a test's database wait for locks that the test holds.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../../db/database.ts';
import { until } from './until.ts';

/** Resolves when exactly so many statements wait for a lock. */
export function untilWaitingForLocks(em: Em, count: number): Promise<unknown> {
  return until(`${count} wait for a lock`, async () => {
    const waiting = await em.execute<object[]>(sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
    return waiting.length === count;
  });
}
