// The relay: starts the runs of deliveries whose first attempt failed, when the next one is due, and of those
// whose run was lost.
import { forkEm, type Database } from '../db/database.ts';
import { claimDueRuns, confirmStarts, lastInTurn } from '../db/webhooks/outbox.ts';
import type { WebhookRuns } from '../domain/webhooks.ts';
import type { Log } from '../log.ts';
import { pause, repeatUntil } from './webhook-loop.ts';

export interface RelayParts {
  database: Database;
  runs: WebhookRuns;
  log: Pick<Log, 'warn'>;
}

/** Between two looks into an outbox that was empty. */
const IDLE_PAUSE_MS = 500;
/** After starts, in what they took: a start is a quarter of what a run costs Temporal; tasks come first. */
const REST_PER_START = 3;
const REST_MS_MAX = 2_000;

export async function relayUntil(stopping: AbortSignal, parts: RelayParts): Promise<void> {
  let lastEndpointId = '';
  await repeatUntil(stopping, parts.log, async () => {
    const startedAt = Date.now();
    const { found, last } = await relayOnce(parts, lastEndpointId);
    lastEndpointId = last;
    await pause(
      found > 0 ? Math.min(REST_PER_START * (Date.now() - startedAt), REST_MS_MAX) : IDLE_PAUSE_MS,
      stopping,
    );
  });
}

/** One look: claims what is due and starts it; what was not started is due again later. */
export async function relayOnce(
  { database, runs, log }: RelayParts,
  lastEndpointId = '',
): Promise<{ found: number; started: number; last: string }> {
  const due = await claimDueRuns(forkEm(database), lastEndpointId);
  const starts = await Promise.allSettled(due.map((webhook) => runs.startWebhook(webhook)));
  const started = due.filter((_, index) => starts[index]?.status === 'fulfilled');
  const failed = starts.find((start) => start.status === 'rejected');
  if (failed)
    log.warn({ err: failed.reason as unknown }, 'a webhook could not be started; it is tried again');
  const ids = started.map(({ deliveryId }) => deliveryId);
  if (ids.length > 0) await confirmStarts(forkEm(database), ids);
  return { found: due.length, started: ids.length, last: lastInTurn(due, lastEndpointId) };
}
