// The clock of the database, by which leases, sessions and cooldowns end.
import type { Em } from './database.ts';
import { prepare } from './prepared.ts';

/** Milliseconds since 1970. */
export async function readClock(em: Em): Promise<number> {
  const [row] = await selectClock(em, []);
  if (!row) throw new Error('the database answered nothing');
  return row.nowMs;
}

const selectClock = prepare<{ nowMs: number }>(
  'read-clock',
  `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`,
);
