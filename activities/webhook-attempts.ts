// One attempt to deliver a webhook: posts it while its endpoint exists, and records what came of it. What is
// asked of the database goes together with other attempts of the same moment.
import { batch, isOneItemsFault } from '../db/batching.ts';
import { forkEm } from '../db/database.ts';
import {
  failDeliveries,
  recordFailed,
  recordTaken,
  whileEndpointsExist,
  type HeldWrite,
  type TakenDelivery,
} from '../db/webhooks/attempts.ts';
import { signingKeysOf } from '../db/webhooks/endpoints.ts';
import type { DeliveryToSend } from '../db/webhooks/to-send.ts';
import {
  WEBHOOK_ANSWER_BYTES_MAX,
  WEBHOOK_TIMEOUT_SECONDS,
  type WebhookFailure,
} from '../domain/webhooks.ts';
import { createPostOutside, type PostOutcome, type PostOutside } from '../providers/http/post-outside.ts';
import { signResultUrl } from '../storage/result-links.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { signHeaders, writeBody } from './webhook-message.ts';

/**
 * What is to come after an attempt: nothing, the next one after a pause, or no other. `aborted`: our process
 * stops, and nothing is known or recorded, so that the attempt is made again.
 */
export type Attempted =
  | { kind: 'delivered' | 'aborted' }
  | { kind: 'retry'; failure: WebhookFailure; retryMs: number }
  | { kind: 'failed'; failure: WebhookFailure };

export interface WebhookAttempts {
  /** Throws when the outcome could not be recorded: the attempt has to be made again, with the same id. */
  attempt(delivery: DeliveryToSend, signal: AbortSignal): Promise<Attempted>;
}

type Dependencies = Pick<ActivityDependencies, 'database' | 'secrets' | 'webhooks'>;

/** How long the body of an answer is read, once its status has told what counts. */
const ANSWER_MS = 1_000;
/** Attempts in one transaction or statement. */
const TOGETHER_MAX = 100;
/** How long those before wait for others. */
const GATHER_MS = 5;

export function createWebhookAttempts(dependencies: Dependencies): WebhookAttempts {
  const { database, webhooks } = dependencies;
  const options = { itemsMax: TOGETHER_MAX, gatherMs: GATHER_MS, isOneItemsFault };
  const hold = batch(
    (writes: readonly HeldWrite[]) => whileEndpointsExist(forkEm(database), writes),
    options,
  );
  const take = batch(async (taken: readonly TakenDelivery[]) => {
    await recordTaken(forkEm(database), taken);
    return taken.map(() => true);
  }, options);
  const postOutside = createPostOutside({ trustsOrigin: webhooks.trustsOrigin });

  return {
    async attempt(delivery, signal) {
      const { id, attempts } = delivery;
      const startedAt = performance.now();
      const posted = await post(dependencies, delivery, { postOutside, hold, signal });
      const ms = Math.round(performance.now() - startedAt);
      if (posted.kind === 'withheld') {
        await failDeliveries(forkEm(database), [id], 'webhook_disabled');
        return { kind: 'failed', failure: 'webhook_disabled' };
      }
      if (posted.kind === 'answered' && posted.status >= 200 && posted.status <= 299) {
        await take({ id, status: posted.status, body: posted.body, ms });
        webhooks.observe('delivered', ms / 1000);
        return { kind: 'delivered' };
      }
      if (posted.kind !== 'answered' && signal.aborted) return { kind: 'aborted' };
      const { status, body } = posted.kind === 'answered' ? posted : { status: null, body: null };
      const failure = posted.kind !== 'answered' ? posted.kind : status === 410 ? 'gone' : 'rejected';
      const retryMs = failure === 'gone' ? null : (webhooks.retryDelaysMs[attempts] ?? null);
      await recordFailed(forkEm(database), delivery, { failure, status, body, ms, retryMs });
      webhooks.observe(failure, ms / 1000);
      return retryMs === null ? { kind: 'failed', failure } : { kind: 'retry', failure, retryMs };
    },
  };
}

function post(
  { secrets, webhooks }: Pick<Dependencies, 'secrets' | 'webhooks'>,
  { endpoint, event }: DeliveryToSend,
  {
    postOutside,
    hold,
    signal,
  }: { postOutside: PostOutside; hold: (write: HeldWrite) => Promise<boolean>; signal: AbortSignal },
): Promise<PostOutcome> {
  const now = new Date();
  const { resultUrlSeconds } = webhooks;
  const linkTo = (key: string): string => {
    const links = { publicUrl: webhooks.publicUrl(), keys: secrets.signingKeys(), resultUrlSeconds };
    return signResultUrl(links, key, now);
  };
  const body = writeBody(event, linkTo);
  const signing = { eventId: event.id, keys: signingKeysOf(secrets, endpoint, now), now };
  return postOutside(endpoint.url, {
    headers: signHeaders(body, signing),
    body,
    receiver: endpoint.id,
    timeoutMs: WEBHOOK_TIMEOUT_SECONDS * 1000,
    answerBytesMax: WEBHOOK_ANSWER_BYTES_MAX,
    answerMs: ANSWER_MS,
    signal,
    beforeWrite: async (write) => {
      await hold({ endpointId: endpoint.id, write });
    },
  });
}
