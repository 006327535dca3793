// Waiting inside an activity: heartbeats while work runs, pauses that a cancellation ends.
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';

/** What an activity does, for operators, and how often it tells Temporal that its worker lives. */
export interface Beat {
  phase: string;
  /** A third of the time-out by which Temporal misses the heartbeat, or less. */
  everyMs: number;
}

/** Runs `work` and sends heartbeats meanwhile. */
export async function withHeartbeat<Result>(beat: Beat, work: () => Promise<Result>): Promise<Result> {
  const context = Context.current();
  const { phase, everyMs } = beat;
  // None at the beginning: the start itself was a sign of life, and each one is a write for Temporal.
  const timer = setInterval(() => context.heartbeat({ phase }), everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * A signal that fires when the task was cancelled, and only then: a worker that shuts down, or an activity
 * that was paused, looks like a cancellation too, but must not throw away work at a vendor.
 */
export function abortOnCancel(): AbortSignal {
  const context = Context.current();
  const controller = new AbortController();
  context.cancelled.catch(() => {
    if (context.cancellationDetails?.cancelRequested) controller.abort();
  });
  return controller.signal;
}

/**
 * Whether this run of the activity is not wanted any more: it was cancelled, or Temporal has given it up. Not
 * for a worker that shuts down or a pause by an operator, which look like a cancellation, too. Temporal tells
 * of it with the answer to a heartbeat.
 */
export function isRunGivenUp(): boolean {
  const { cancelRequested, notFound, timedOut } = Context.current().cancellationDetails ?? {};
  return cancelRequested === true || notFound === true || timedOut === true;
}

/**
 * Pauses; a cancellation of the activity ends the pause by throwing. The SDK's own sleep leaves a reaction at
 * the activity's promise of its cancellation each time, for as long as the activity runs.
 */
export async function pause(ms: number, activity: Cancellable = Context.current()): Promise<void> {
  try {
    await sleep(ms, undefined, { signal: activity.cancellationSignal });
  } catch {
    await activity.cancelled;
  }
}

type Cancellable = Pick<Context, 'cancellationSignal' | 'cancelled'>;
