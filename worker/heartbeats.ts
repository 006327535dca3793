// Sends heartbeats for the steps of the sweeper, which send none themselves.
import { activityInfo } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor } from '@temporalio/worker';
import { withHeartbeat } from '../activities/heartbeat.ts';
import { SWEEPER_STEPS } from '../activities/index.ts';

/** A third of the time-out in `workflows/sweep.ts`. */
const SWEEPING = { phase: 'sweeping', everyMs: 5_000 };
const STEPS: ReadonlySet<string> = new Set(SWEEPER_STEPS);

export const SWEEPER_HEARTBEATS: ActivityInboundCallsInterceptor = {
  execute: (input, next) =>
    STEPS.has(activityInfo().activityType) ? withHeartbeat(SWEEPING, () => next(input)) : next(input),
};
