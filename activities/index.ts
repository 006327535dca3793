// Puts all activities together; their names are recorded in histories and must not change.
import { createAdmission } from './admission.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createInvariantCheck } from './invariants.ts';
import { createPolling } from './polling.ts';
import { createResults } from './results.ts';
import { createRetention } from './retention.ts';
import { createSettlement } from './settlement.ts';
import { createSubmission } from './submission.ts';
import { createUsageRollup } from './usage-rollup.ts';
import { createSweep } from './sweep.ts';
import { createWebhooks } from './webhooks.ts';

export type Activities = ReturnType<typeof createActivities>;

/** The steps of the sweeper's rounds; the worker sends heartbeats for them. */
export const SWEEPER_STEPS = [
  'sweepTasks',
  'removeOldRequests',
  'checkInvariants',
  'rollUpUsage',
  'removeExpired',
] as const satisfies readonly (keyof Activities)[];

export function createActivities(dependencies: ActivityDependencies) {
  return {
    ...createAdmission(dependencies),
    ...createSubmission(dependencies),
    ...createPolling(dependencies),
    ...createResults(dependencies),
    ...createSettlement(dependencies),
    ...createSweep(dependencies),
    ...createUsageRollup(dependencies),
    ...createRetention(dependencies),
    ...createInvariantCheck(dependencies),
    ...createWebhooks(dependencies),
  };
}
