// The activities as the workflow calls them: time-outs, retries, cancellation, and summaries for operators.
import { ActivityCancellationType, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { POLL_QUEUE, SOON_QUEUE, STORE_QUEUE, WITHDRAW_QUEUE } from './names.ts';

/**
 * Policy for what every task passes, each one short statement: local, so that it needs no step of its own in
 * the server, and retried until the database answers. A longer pause between tries is a timer of the server:
 * while a local activity is tried, its run keeps one of the worker's few places, and those of a user whose
 * figures contradict each other would keep all of them.
 */
const statement = (summary: string) =>
  proxyLocalActivities<Activities>({
    startToCloseTimeout: '10s',
    retry: { initialInterval: '200ms', maximumInterval: '15s' },
    localRetryThreshold: '5s',
    summary,
  });

export const { estimate } = statement('Price the order, set the credits aside, take a slot');
export const { reserve } = statement('Set the credits aside');
export const { begin } = statement('Take one of the user’s slots for running tasks');
export const { charge } = statement('Charge for what was delivered');

/**
 * Retried only after what surely did not reach the vendor, which the activity decides. Cancellation waits for
 * its end, because it must be known whether the vendor took the work. The heartbeat shows when a worker died.
 */
export const { submit } = proxyActivities<Activities>({
  startToCloseTimeout: '24h',
  heartbeatTimeout: '15s',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/**
 * Only reads at the vendor, and its writes are guarded by the attempt: cancellation need not wait for it.
 * Thousands wait at once, and each heartbeat is a write for Temporal: a worker that died is missed after 50
 * seconds, so that what it waited for ends within a minute of its return.
 */
export const { poll } = proxyActivities<Activities>({
  taskQueue: POLL_QUEUE,
  startToCloseTimeout: '24h',
  heartbeatTimeout: '50s',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1s', maximumInterval: '15s' },
});

/**
 * A vendor's result may live for an hour only, and a big one takes minutes. The activity gives up a vendor
 * after some tries; our own storage is waited for until the time-out.
 */
export const { store } = proxyActivities<Activities>({
  taskQueue: STORE_QUEUE,
  startToCloseTimeout: '15m',
  scheduleToCloseTimeout: '30m',
  heartbeatTimeout: '15s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
  summary: 'Copy the result to our storage',
});

/**
 * Policy for what must happen when the story breaks off, however long the database is away: operators see it
 * among the pending activities, with its attempts.
 */
const settlement = (summary: string, taskQueue = SOON_QUEUE) =>
  proxyActivities<Activities>({
    taskQueue,
    startToCloseTimeout: '30s',
    retry: { initialInterval: '500ms', maximumInterval: '15s' },
    summary,
  });

export const { withdraw } = settlement('Stop the provider, or take what it finished', WITHDRAW_QUEUE);
export const { recordFailure } = settlement('Record the failure and give the credits back');
export const { recordCancellation } = settlement('Record the cancellation and give the credits back');
