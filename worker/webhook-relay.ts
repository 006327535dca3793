// The relay: starts the runs of what the outbox of webhooks holds. Each worker has one; a delivery that one
// of them claimed and lost is claimed again.
import { forkEm, type Database } from '../db/database.ts';
import { claimDueDeliveries, confirmStarts } from '../db/webhooks/relay.ts';
import type { WebhookRuns } from '../domain/webhooks.ts';
import type { Log } from '../log.ts';

export interface WebhookRelay {
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>;
}

/** Between two looks into an outbox that was empty. */
const IDLE_PAUSE_MS = 500;
/** The least pause after a look that found something. */
const BUSY_PAUSE_MS = 20;
/** After a look that broke: the database or Temporal is away. */
const BROKEN_PAUSE_MS = 2_000;

export function startWebhookRelay(parts: {
  database: Database;
  runs: WebhookRuns;
  log: Pick<Log, 'warn'>;
}): WebhookRelay {
  const stopping = new AbortController();
  const running = relayUntil(stopping.signal, parts);
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

async function relayUntil(
  signal: AbortSignal,
  parts: Parameters<typeof startWebhookRelay>[0],
): Promise<void> {
  while (!signal.aborted) {
    const startedAt = Date.now();
    const started = await relayOnce(parts).catch((err: unknown) => {
      parts.log.warn({ err }, 'webhooks could not be relayed; the next look comes soon');
      return null;
    });
    // As long as the starts took: tasks have half of what Temporal can do at least.
    const busyMs = Math.max(BUSY_PAUSE_MS, Date.now() - startedAt);
    await pause(started === null ? BROKEN_PAUSE_MS : started > 0 ? busyMs : IDLE_PAUSE_MS, signal);
  }
}

/** One look: claims what is due and starts it. Answers how many; what was not started is due again later. */
export async function relayOnce({
  database,
  runs,
  log,
}: Parameters<typeof startWebhookRelay>[0]): Promise<number> {
  const due = await claimDueDeliveries(forkEm(database));
  if (due.length === 0) return 0;
  const starts = await Promise.allSettled(due.map((webhook) => runs.startWebhook(webhook)));
  const started = due.filter((_, index) => starts[index]?.status === 'fulfilled');
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed)
    log.warn({ err: failed.reason as unknown }, 'a webhook could not be started; it is tried again');
  if (started.length > 0)
    await confirmStarts(
      forkEm(database),
      started.map(({ deliveryId }) => deliveryId),
    );
  return started.length;
}

/** Waits, or less when the worker stops. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
