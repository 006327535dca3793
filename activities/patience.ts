// Waiting inside an activity: heartbeats while something runs, pauses that a cancellation ends, writes that must succeed.
import { Context } from '@temporalio/activity';

const HEARTBEAT_EVERY_MS = 1_000;
const ALSO_SAY_EVERY_MS = 4_000;
const WRITE_RETRY_LIMIT_MS = 10 * 60_000;
const WRITE_RETRY_PAUSE_MS = 500;

/**
 * Runs `work` and tells the engine every second that this worker lives; `phase` is what operators read.
 * `alsoSay` is called every few seconds beside it; its failures do not matter.
 */
export async function heartbeating<Result>(
  phase: string,
  alsoSay: () => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  const context = Context.current();
  // None at the beginning: the start itself was a sign of life, and each one is a write of the engine.
  const timers = [
    setInterval(() => context.heartbeat({ phase }), HEARTBEAT_EVERY_MS),
    setInterval(() => void alsoSay().catch(nothing), ALSO_SAY_EVERY_MS),
  ];
  try {
    return await work();
  } finally {
    for (const timer of timers) clearInterval(timer);
  }
}

export async function nothing(): Promise<void> {}

/**
 * A signal that fires when somebody cancelled the task, and only then: a worker that shuts down, or an activity
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

/** Repeats a write that must not be lost while the database or the storage is away, for at most ten minutes. */
export async function untilWritten<Answer>(write: () => Promise<Answer>): Promise<Answer> {
  const giveUpAt = Date.now() + WRITE_RETRY_LIMIT_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, WRITE_RETRY_PAUSE_MS));
    }
  }
}
