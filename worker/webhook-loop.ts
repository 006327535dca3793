// The loops of the outbox: look after look, until the worker stops.
import type { Log } from '../log.ts';

/** After a look that broke: the database or Temporal is away. */
const BROKEN_PAUSE_MS = 2_000;

/** Repeats `look` until `stopping`, with a pause after one that broke. */
export async function repeatUntil(
  stopping: AbortSignal,
  log: Pick<Log, 'warn'>,
  look: () => Promise<void>,
): Promise<void> {
  while (!stopping.aborted)
    try {
      await look();
    } catch (err) {
      log.warn({ err }, 'a look into the outbox of webhooks broke; the next one comes soon');
      await pause(BROKEN_PAUSE_MS, stopping);
    }
}

/** Waits, or less when the worker stops. */
export async function pause(ms: number, stopping: AbortSignal): Promise<void> {
  if (stopping.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stopping.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    stopping.addEventListener('abort', end);
  });
}
