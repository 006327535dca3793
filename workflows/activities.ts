// The activities as the workflow calls them: one proxy per way of timing, retrying and cancelling.
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { GENERATION_QUEUE, POLL_QUEUE } from './names.ts';

/** A caller waits for these, and each is one short statement: local, and repeated until the database answers. */
export const admission = proxyLocalActivities<Pick<Activities, 'estimate' | 'reserve' | 'begin'>>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', maximumInterval: '5s' },
});

/**
 * Repeated only after what surely did not reach the vendor; the activity itself decides that. Cancellation waits
 * for its end, since we must learn whether the vendor took the work. The heartbeat tells when a worker died.
 */
export const submission = proxyActivities<Pick<Activities, 'submit'>>({
  taskQueue: GENERATION_QUEUE,
  startToCloseTimeout: '24h',
  heartbeatTimeout: '10s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/** Reads only, and every write is guarded by the attempt: cancellation need not wait for it. */
export const polling = proxyActivities<Pick<Activities, 'poll'>>({
  taskQueue: POLL_QUEUE,
  startToCloseTimeout: '24h',
  heartbeatTimeout: '30s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1s', maximumInterval: '15s' },
});

/** A vendor's result may live for an hour only, and a big one takes minutes. */
export const delivery = proxyActivities<Pick<Activities, 'store'>>({
  startToCloseTimeout: '15m',
  scheduleToCloseTimeout: '30m',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '1s', maximumInterval: '30s', maximumAttempts: 10 },
});

/** Must happen, however long the database is away. */
export const settlement = proxyActivities<
  Pick<Activities, 'charge' | 'withdraw' | 'recordFailure' | 'recordCancellation'>
>({
  startToCloseTimeout: '30s',
  retry: { initialInterval: '500ms', maximumInterval: '15s' },
});
