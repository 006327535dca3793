// The check of the ledger over a made history: in the course of such a past, the sweeper has come to its end.
import { createInvariantCheck } from '../../activities/invariants.ts';
import { forkEm, type Database } from '../../db/database.ts';
import { createLog } from '../../log.ts';

/**
 * Does the sweeper's rounds until no account has a transfer that they have not seen. Else it would check two
 * million transfers of one moment beside the reads that are measured. Throws where a rule is violated.
 */
export async function checkLedger(database: Database): Promise<void> {
  const log = createLog({ process: 'bench', level: 'warn' });
  const { checkInvariants } = createInvariantCheck({ database, log });
  while ((await countUnchecked(database)) > 0) {
    const { violations } = await checkInvariants();
    if (violations > 0) throw new Error('the made history violates a rule of the ledger');
  }
}

async function countUnchecked(database: Database): Promise<number> {
  const [row] = await forkEm(database).execute<{ count: number }[]>(`
    select count(*)::int as count from account a left join ledger_checkpoint c using (user_id)
    where a.sequence > coalesce(c.sequence, 0)`);
  if (!row) throw new Error('the database answered nothing');
  return row.count;
}
