// Kills the API in the middle of load: what was answered was charged, and no reservation stays open.
import { setTimeout as sleep } from 'node:timers/promises';
import { findViolations } from '../../db/ledger/invariants.ts';
import { openDatabase } from '../../db/open-database.ts';
import type { BenchSystem } from '../system.ts';
import type { Verdict } from '../verdict.ts';
import { loadTarget, type Target } from './load.ts';
import { forkEm, type Em } from '../../db/database.ts';

const LOAD_SECONDS = 8;
const KILL_AFTER_MS = 3_000;
const CONNECTIONS = 20;
/** Time limit for the end of a lease and the next round of the sweeper. */
const SETTLED_LIMIT_MS = 60_000;

/** Runs the load and kills the API. `countUpstream` returns how many calls the upstream has seen. */
export async function benchKilled(
  verdict: Verdict,
  system: BenchSystem,
  target: Target,
  countUpstream: () => Promise<number>,
): Promise<void> {
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 1 });
  const em = forkEm(database);
  const [chargesBefore, callsBefore] = [await countCharges(em), await countUpstream()];
  const load = loadTarget(target, CONNECTIONS, LOAD_SECONDS);
  await sleep(KILL_AFTER_MS);
  const pid = system.pidOf('api');
  if (pid !== null) process.kill(pid, 'SIGKILL');
  const { answered } = await load;
  const open = await untilNothingIsOpen(em);
  const charged = (await countCharges(em)) - chargesBefore;
  const upstream = (await countUpstream()) - callsBefore;
  const violations = await findViolations(em);
  await database.close();
  const unheard = charged - answered;
  // Calls that were under way when the API died, and when the load ended: at most one for each connection.
  const isExact =
    unheard >= 0 && upstream - answered <= 2 * CONNECTIONS && open === 0 && violations.length === 0;
  verdict.exact(
    'charges of calls that were answered, with the API killed under load',
    isExact,
    `${answered} answered, ${charged} charged (${unheard} whose answer was lost on the way), ${upstream} at the ` +
      `upstream, ${open} open, ${violations.length} violations`,
  );
}

async function untilNothingIsOpen(em: Em): Promise<number> {
  const giveUpAt = Date.now() + SETTLED_LIMIT_MS;
  for (;;) {
    const [row] = await em.execute<{ open: number }[]>(
      `select count(*)::int as open from chat_call where status = 'open'`,
    );
    const open = row?.open ?? 0;
    if (open === 0 || Date.now() > giveUpAt) return open;
    await sleep(500);
  }
}

async function countCharges(em: Em): Promise<number> {
  const [row] = await em.execute<{ charges: number }[]>(
    `select count(*)::int as charges from ledger_transfer where kind = 'charge'`,
  );
  return row?.charges ?? 0;
}
