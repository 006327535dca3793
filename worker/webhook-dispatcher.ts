// Makes the first attempt of each delivery as soon as it stands in the outbox. Most need no other, and one
// that does is left to the relay. What a process claimed and did not record is claimed again.
import type { WebhookAttempts } from '../activities/webhook-attempts.ts';
import { forkEm, type Database } from '../db/database.ts';
import { failDeliveries } from '../db/webhooks/attempts.ts';
import { claimFirstAttempts, lastInTurn, type ClaimedAttempt } from '../db/webhooks/outbox.ts';
import { findDeliveriesToSend, type DeliveryToSend } from '../db/webhooks/to-send.ts';
import type { Log } from '../log.ts';
import { FirstAttempts } from './webhook-first-attempts.ts';
import { pause, repeatUntil } from './webhook-loop.ts';

export interface DispatcherParts {
  database: Database;
  attempts: WebhookAttempts;
  /** First attempts under way at once. */
  attemptsMax: number;
  log: Pick<Log, 'warn'>;
}

/** Deliveries in one claim: few enough that the process does other things between two. */
const CLAIM_MAX = 50;
/** After a claim, the next one waits for this many of its attempts, but no longer than that. */
const CLAIM_ENDED = 0.8;
const CLAIM_ENDED_LIMIT_MS = 100;
/** Between two looks into an outbox that was empty. */
const IDLE_PAUSE_MS = 500;

/**
 * Claims and sends until `stopping`; resolves when nothing is under way any more. `cutting` ends the attempts
 * that are still under way then.
 */
export async function dispatchUntil(
  { stopping, cutting }: { stopping: AbortSignal; cutting: AbortSignal },
  parts: DispatcherParts,
): Promise<void> {
  const underWay = new FirstAttempts(parts.attemptsMax);
  let lastEndpointId = '';
  await repeatUntil(stopping, parts.log, async () => {
    const max = Math.min(CLAIM_MAX, underWay.claimMax);
    const wanted = { max, lastEndpointId, without: underWay.findLeftOut() };
    const claimed = max > 0 ? await claimFirstAttempts(forkEm(parts.database), wanted) : [];
    lastEndpointId = lastInTurn(claimed, lastEndpointId);
    if (claimed.length === 0) return pause(IDLE_PAUSE_MS, stopping);
    const sent = await send(parts, claimed, { underWay, cutting });
    await mostOf(sent);
  });
  await underWay.ended();
}

/** Begins the attempts of these deliveries. Their promises never reject. */
async function send(
  { database, attempts, log }: DispatcherParts,
  claimed: readonly ClaimedAttempt[],
  { underWay, cutting }: { underWay: FirstAttempts; cutting: AbortSignal },
): Promise<Promise<void>[]> {
  const ids = claimed.map(({ deliveryId }) => deliveryId);
  const deliveries = await findDeliveriesToSend(forkEm(database), ids);
  const isOpen = ({ endpoint }: DeliveryToSend): boolean => endpoint.disabledAt === null;
  const shut = deliveries.filter((delivery) => !isOpen(delivery)).map(({ id }) => id);
  if (shut.length > 0) await failDeliveries(forkEm(database), shut, 'webhook_disabled');
  return deliveries.filter(isOpen).map((delivery) => {
    const attempted = attempts.attempt(delivery, cutting).catch((err: unknown) => {
      log.warn({ err, deliveryId: delivery.id }, 'what came of a webhook was not recorded; it is sent again');
      return null;
    });
    return underWay.add(delivery.endpoint, attempted);
  });
}

/**
 * Waits for the quick ones: the pace is that of what the process can do, and no slow receiver holds it up.
 */
async function mostOf(sent: readonly Promise<void>[]): Promise<void> {
  const most = Math.ceil(sent.length * CLAIM_ENDED);
  if (most === 0) return;
  const enough = Promise.withResolvers<void>();
  const timer = setTimeout(enough.resolve, CLAIM_ENDED_LIMIT_MS);
  let ended = 0;
  for (const one of sent)
    void one.then(() => {
      ended += 1;
      if (ended >= most) enough.resolve();
    });
  await enough.promise;
  clearTimeout(timer);
}
