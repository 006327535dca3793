// Settling chat calls whose lease is over, except where its end proves nothing of their processes.
import { readClock } from '../db/clock.ts';
import { settleAbandonedCalls } from '../db/chat/chat-ledger.ts';
import { forkEm, type Em } from '../db/database.ts';
import { RENEWALS_PER_LEASE } from '../domain/chat-calls.ts';
import type { ActivityDependencies } from './dependencies.ts';

type Dependencies = Pick<ActivityDependencies, 'database' | 'chatLeaseSeconds' | 'log'>;

/** The next renewal of a call may just have failed, or be about to come and take its time. */
const RENEWALS_WAITED_FOR = 2;

/**
 * While the database is away no process can renew a lease, and when its clock is set ahead, as after another
 * server took over, all leases are over at once. Both prove nothing: each call gets time for a renewal.
 */
export function createAbandonedCalls({ database, chatLeaseSeconds, log }: Dependencies) {
  const renewalMs = (chatLeaseSeconds / RENEWALS_PER_LEASE) * 1000;
  const restMs = renewalMs * RENEWALS_WAITED_FOR;
  let restsUntil = -Infinity;
  /** The database's clock less ours, which nothing sets, in the round before; null in the first one. */
  let differenceMs: number | null = null;

  const rest = (): void => void (restsUntil = performance.now() + restMs);

  async function noteClock(em: Em): Promise<void> {
    const differedMs = differenceMs;
    differenceMs = (await readClock(em)) - performance.now();
    if (differedMs === null || differenceMs - differedMs < renewalMs) return;
    log.warn({ aheadMs: Math.round(differenceMs - differedMs) }, 'the clock of the database was set ahead');
    rest();
  }

  return {
    /** Answers how many calls were settled. */
    async settle(): Promise<number> {
      const em = forkEm(database);
      try {
        await noteClock(em);
        if (performance.now() < restsUntil) return 0;
        const { settled, contradictory } = await settleAbandonedCalls(em);
        const [first] = contradictory;
        if (first) {
          const told = { err: first.reason, callId: first.callId, calls: contradictory.length };
          log.error(told, 'abandoned chat calls contradict their accounts');
        }
        return settled;
      } catch (error) {
        rest();
        throw error;
      }
    },
  };
}
