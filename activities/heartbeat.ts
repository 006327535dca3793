// Waiting inside an activity: heartbeats while work runs, pauses that a cancellation ends.
import { Context } from '@temporalio/activity';

const HEARTBEAT_INTERVAL_MS = 1_000;
const ON_HEARTBEAT_INTERVAL_MS = 4_000;

/**
 * Runs `work` and tells Temporal every second that this worker lives; `phase` is what operators read.
 * `onHeartbeat` is called every few seconds beside it; its failures are ignored.
 */
export async function withHeartbeat<Result>(
  phase: string,
  onHeartbeat: () => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  // None at the beginning: the start itself was a sign of life, and each one is a write for Temporal.
  const timers = [
    setInterval(() => context.heartbeat({ phase }), HEARTBEAT_INTERVAL_MS),
    setInterval(() => void onHeartbeat().catch(noop), ON_HEARTBEAT_INTERVAL_MS),
  ];
  try {
    return await work();
  } finally {
    for (const timer of timers) clearInterval(timer);
  }
}

/** For `onHeartbeat` where nothing is to be done beside the heartbeat. */
export async function noop(): Promise<void> {}

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

/** Pauses; a cancellation of the activity ends the pause by throwing. */
export async function pause(ms: number): Promise<void> {
  await Context.current().sleep(ms);
}
