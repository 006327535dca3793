// Delivers an event to an endpoint. An attempt that was made and could not be recorded is made again, with
// the same `webhook-id`.
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { forkEm } from '../db/database.ts';
import {
  failDelivery,
  findDeliveryToSend,
  recordAttempt,
  whileEndpointExists,
  type AttemptOutcome,
  type DeliveryToSend,
} from '../db/webhooks/attempts.ts';
import { signingSecretsOf } from '../db/webhooks/endpoints.ts';
import { WEBHOOK_FAILURES, type WebhookFailure } from '../domain/webhooks.ts';
import { postOutside, type PostOutcome } from '../providers/http/post-outside.ts';
import { signResultUrl } from '../storage/result-links.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { signHeaders, writeBody } from './webhook-message.ts';

const ATTEMPT_TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 16 * 1024;
/** How long the body of an answer is read, once its status has told what counts. */
const ANSWER_MS = 1_000;
/** Attempts under way to one endpoint at once in this process; others come back a little later. */
const ATTEMPTS_PER_ENDPOINT_MAX = 40;
const BUSY_RETRY_MS = 2_000;

export function createWebhooks(dependencies: ActivityDependencies) {
  const { database } = dependencies;
  const underWay = new Map<string, number>();

  return {
    /** Throws unless the receiver has it: with the time of the next attempt, or for good. */
    async sendWebhook({ deliveryId }: { deliveryId: string }): Promise<void> {
      const delivery = await findDeliveryToSend(forkEm(database), deliveryId);
      if (!delivery || delivery.state === 'failed') throw endRun('The delivery has ended.', 'delivery_ended');
      if (delivery.state === 'delivered') return;
      const { id: endpointId, disabledAt } = delivery.endpoint;
      if (disabledAt) return refuse(dependencies, delivery);
      const count = underWay.get(endpointId) ?? 0;
      if (count >= ATTEMPTS_PER_ENDPOINT_MAX) throw tryLater('webhook_busy', BUSY_RETRY_MS);
      underWay.set(endpointId, count + 1);
      try {
        await attempt(dependencies, delivery);
      } finally {
        const left = (underWay.get(endpointId) ?? 1) - 1;
        if (left > 0) underWay.set(endpointId, left);
        else underWay.delete(endpointId);
      }
    },

    async abandonWebhook({ deliveryId }: { deliveryId: string }): Promise<void> {
      await failDelivery(forkEm(database), deliveryId, 'cancelled');
    },
  };
}

async function attempt(dependencies: ActivityDependencies, delivery: DeliveryToSend): Promise<void> {
  const { database, webhooks } = dependencies;
  const startedAt = performance.now();
  const posted = await post(dependencies, delivery);
  if (posted.kind === 'withheld') return refuse(dependencies, delivery);
  const failure = failureOf(posted);
  const next = webhooks.retryDelaysMs[delivery.attempts];
  const retryMs = failure === null || failure === 'gone' || next === undefined ? null : next;
  const outcome: AttemptOutcome = {
    failure,
    status: posted.kind === 'answered' ? posted.status : null,
    body: posted.kind === 'answered' ? posted.body : null,
    ms: Math.round(performance.now() - startedAt),
    retryMs,
  };
  await recordAttempt(forkEm(database), delivery, outcome);
  webhooks.observe(failure ?? 'delivered', outcome.ms / 1000);
  if (failure === null) return;
  if (retryMs !== null) throw tryLater(failure, retryMs);
  throw endRun(WEBHOOK_FAILURES[failure], failure);
}

function post(
  { database, secrets, webhooks }: ActivityDependencies,
  { endpoint, event }: DeliveryToSend,
): Promise<PostOutcome> {
  const now = new Date();
  const { resultUrlSeconds } = webhooks;
  const links = { publicUrl: webhooks.publicUrl(), keys: secrets.signingKeys(), resultUrlSeconds };
  const body = writeBody(event, (key) => signResultUrl(links, key, now));
  return postOutside(endpoint.url, {
    headers: signHeaders(body, {
      ...{ eventId: event.id, secrets: signingSecretsOf(secrets, endpoint, now), now },
    }),
    body,
    trustsOrigin: webhooks.trustsOrigin,
    timeoutMs: ATTEMPT_TIMEOUT_MS,
    answerBytesMax: ANSWER_BYTES_MAX,
    answerMs: ANSWER_MS,
    beforeWrite: async (write) => {
      await whileEndpointExists(forkEm(database), endpoint.id, write);
    },
  });
}

/** Ends the delivery of an endpoint that was deleted or disabled. */
async function refuse({ database }: ActivityDependencies, { id }: DeliveryToSend): Promise<never> {
  await failDelivery(forkEm(database), id, 'webhook_disabled');
  throw endRun(WEBHOOK_FAILURES.webhook_disabled, 'webhook_disabled');
}

function failureOf(posted: Exclude<PostOutcome, { kind: 'withheld' }>): WebhookFailure | null {
  if (posted.kind !== 'answered') return posted.kind;
  if (posted.status === 410) return 'gone';
  return posted.status >= 200 && posted.status <= 299 ? null : 'rejected';
}

/** A failed attempt is an outcome for operators to read, not an alarm. */
function tryLater(type: WebhookFailure | 'webhook_busy', nextRetryDelay: number): ApplicationFailure {
  const message =
    type === 'webhook_busy' ? 'Other attempts to this receiver are under way.' : WEBHOOK_FAILURES[type];
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ message, type, nonRetryable: false, nextRetryDelay, category });
}

function endRun(message: string, type: string): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ message, type, nonRetryable: true, category });
}
