// Carries the sums of usage forward, in steps that are short transactions each.
import { forkEm } from '../db/database.ts';
import { addEnds, addTransfers, readHorizon, spanQuarters } from '../db/usage/rollup.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** A round ends after this; the next one goes on. */
const ROUND_MS = 10_000;
/** The time whose ends one step adds: doubled while they are few, halved when they are many. */
const STEP_MS = { min: 60_000, first: 3_600_000, max: 86_400_000 };
/** Sums that one step writes: more and fewer than these change its length. */
const SUMS_PER_STEP = { min: 500, max: 4_000 };

export function createUsageRollup({ database }: Pick<ActivityDependencies, 'database'>) {
  let stepMs = STEP_MS.first;

  return { rollUpUsage };

  /**
   * Carries forward up to the present, or until the round is over. Transfers come first: ends are added
   * only up to a time before which every transfer is in the sums, so that what was counted may be removed
   * by age.
   */
  async function rollUpUsage(): Promise<{ until: string | null }> {
    const deadline = Date.now() + ROUND_MS;
    const horizon = await readHorizon(forkEm(database));
    for (let after: string | null = ''; after !== null;) {
      if (Date.now() >= deadline) return { until: null };
      after = await addTransfers(forkEm(database), after);
    }
    for (;;) {
      const { until, written } = await addEnds(forkEm(database), horizon, stepMs).catch((error: unknown) => {
        stepMs = Math.max(STEP_MS.min, stepMs / 4); // it may have taken too long
        throw error;
      });
      if (until >= horizon || Date.now() >= deadline) {
        while (Date.now() < deadline && (await spanQuarters(forkEm(database))));
        return { until: until.toISOString() };
      }
      if (written > SUMS_PER_STEP.max) stepMs = Math.max(STEP_MS.min, stepMs / 2);
      if (written < SUMS_PER_STEP.min) stepMs = Math.min(STEP_MS.max, stepMs * 2);
    }
  }
}
