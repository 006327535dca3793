// The sweeper: in rounds it finds what a crash left behind. A schedule keeps one of it running.
import { log, patched, proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities, SWEEPER_STEPS } from '../activities/index.ts';
import { SOON_QUEUE } from './names.ts';

/** A run lasts an hour, so that operators see 24 of them a day and not thousands. */
const ROUNDS = 180;
const PAUSE_MS = 20_000;
/** Every 40 seconds, so that a violated invariant is known within a minute. */
const ROUNDS_PER_CHECK = 2;

/** The heartbeat shows within seconds that a step was lost with its worker, or on its way there. */
const sweeper = proxyActivities<Pick<Activities, (typeof SWEEPER_STEPS)[number]>>({
  taskQueue: SOON_QUEUE,
  startToCloseTimeout: '2m',
  scheduleToCloseTimeout: '5m',
  heartbeatTimeout: '15s',
  retry: { maximumAttempts: 1 }, // the next round comes soon
});

export async function sweep(): Promise<void> {
  await attempt(sweeper.removeOldRequests);
  for (let round = 0; round < ROUNDS; round += 1) {
    await attempt(sweeper.sweepTasks);
    if (round % ROUNDS_PER_CHECK === 0) await attempt(sweeper.checkInvariants);
    // Rounds of a run that an earlier release began go on without them.
    if (patched('usage-and-retention')) {
      await attempt(sweeper.rollUpUsage);
      await attempt(sweeper.removeExpired);
    }
    await sleep(PAUSE_MS);
  }
}

/** Runs a step; a failed one (the database is away) must not end the run. */
async function attempt(step: () => Promise<unknown>): Promise<void> {
  try {
    await step();
  } catch {
    log.warn('a round of the sweeper broke; the next one comes soon');
  }
}
