// Delivers an event to an endpoint. An attempt that was made and could not be recorded is made again, with
// the same `webhook-id`.
import { cancellationSignal } from '@temporalio/activity';
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
  const underWay = new Map<string, number>();

  return {
    /** The first attempt: null when the receiver has it, else the pause before the next. Throws for good. */
    tryWebhook: ({ deliveryId }: { deliveryId: string }): Promise<{ retryMs: number | null }> =>
      attemptOne(dependencies, underWay, deliveryId),

    /** A later attempt. Throws unless the receiver has it: with the time of the next attempt, or for good. */
    async sendWebhook({ deliveryId }: { deliveryId: string }): Promise<void> {
      const { failure, retryMs } = await attemptOne(dependencies, underWay, deliveryId);
      if (retryMs !== null) throw tryLater(failure ?? 'webhook_busy', retryMs);
    },

    async abandonWebhook({ deliveryId }: { deliveryId: string }): Promise<void> {
      await failDelivery(forkEm(dependencies.database), deliveryId, 'cancelled');
    },
  };
}

/** What is to come: `retryMs` null is a success. */
interface Attempted {
  failure: WebhookFailure | null;
  retryMs: number | null;
}

/** Attempts a delivery that is still to be made, unless too many others to its endpoint are under way. */
async function attemptOne(
  dependencies: ActivityDependencies,
  underWay: Map<string, number>,
  deliveryId: string,
): Promise<Attempted> {
  const delivery = await findDeliveryToSend(forkEm(dependencies.database), deliveryId);
  if (!delivery || delivery.state === 'failed') throw endRun('The delivery has ended.', 'delivery_ended');
  if (delivery.state === 'delivered') return { failure: null, retryMs: null };
  const { id: endpointId, disabledAt } = delivery.endpoint;
  if (disabledAt) return refuse(dependencies, delivery);
  const count = underWay.get(endpointId) ?? 0;
  if (count >= ATTEMPTS_PER_ENDPOINT_MAX) return { failure: null, retryMs: BUSY_RETRY_MS };
  underWay.set(endpointId, count + 1);
  try {
    return await attempt(dependencies, delivery);
  } finally {
    const left = (underWay.get(endpointId) ?? 1) - 1;
    if (left > 0) underWay.set(endpointId, left);
    else underWay.delete(endpointId);
  }
}

async function attempt(dependencies: ActivityDependencies, delivery: DeliveryToSend): Promise<Attempted> {
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
  if (failure !== null && retryMs === null) throw endRun(WEBHOOK_FAILURES[failure], failure);
  return { failure, retryMs };
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
    signal: cancellationSignal(),
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
