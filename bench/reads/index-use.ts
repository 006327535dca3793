// Which indexes a read used, and whether it read a whole table: from the counters of PostgreSQL.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../../db/database.ts';

/** Tables that are small beside these may be read whole. */
const LARGE_TABLES = ['task', 'chat_call', 'ledger_transfer', 'task_attempt', 'usage_rollup'];

export interface IndexUse {
  indexes: string[];
  /** Large tables that were read whole. */
  wholeTables: string[];
}

/** Runs a read on the one connection of `em` and answers what it used. */
export async function watchIndexes(em: Em, read: () => Promise<unknown>): Promise<IndexUse> {
  const before = await readCounters(em);
  await read();
  const after = await readCounters(em);
  const used = Object.keys(after).filter((name) => (after[name] ?? 0) > (before[name] ?? 0));
  return {
    indexes: used.filter((name) => !name.startsWith('table ')),
    wholeTables: used.filter((name) => name.startsWith('table ')).map((name) => name.slice('table '.length)),
  };
}

async function readCounters(em: Em): Promise<Record<string, number>> {
  await em.execute(`select pg_stat_force_next_flush()`);
  const rows = await em.execute<{ name: string; scans: string }[]>(sql`
    select indexrelname as name, idx_scan as scans from pg_stat_user_indexes
    union all
    select 'table ' || relname, seq_scan from pg_stat_user_tables
    where relname in (select jsonb_array_elements_text(${JSON.stringify(LARGE_TABLES)}::jsonb))`);
  return Object.fromEntries(rows.map(({ name, scans }) => [name, Number(scans)]));
}
