// The later attempts to deliver an event to an endpoint, whose first one failed. An attempt that was made and
// could not be recorded is made again, with the same `webhook-id`.
import { cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { forkEm } from '../db/database.ts';
import { failDeliveries } from '../db/webhooks/attempts.ts';
import { findDeliveriesToSend, type DeliveryToSend } from '../db/webhooks/to-send.ts';
import { WEBHOOK_FAILURES, type WebhookFailure } from '../domain/webhooks.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { createWebhookAttempts, type WebhookAttempts } from './webhook-attempts.ts';
import { AttemptPlaces } from './webhook-places.ts';

export function createWebhooks(dependencies: ActivityDependencies) {
  const { database, webhooks } = dependencies;
  const attempts = createWebhookAttempts(dependencies);
  const places = new AttemptPlaces(webhooks.attemptsMax);

  return {
    /** Throws unless the receiver has it: with the time of the next attempt, or for good. */
    async sendWebhook({ deliveryId }: { deliveryId: string }): Promise<void> {
      const [delivery] = await findDeliveriesToSend(forkEm(database), [deliveryId]);
      if (!delivery || delivery.state === 'failed') throw endRun('The delivery has ended.', 'delivery_ended');
      if (delivery.state === 'delivered') return;
      if (delivery.endpoint.disabledAt) {
        await failDeliveries(forkEm(database), [deliveryId], 'webhook_disabled');
        throw endRun(WEBHOOK_FAILURES.webhook_disabled, 'webhook_disabled');
      }
      const place = places.take(delivery.endpoint, Date.now());
      if (place.kind === 'none') throw tryLater('webhook_busy', place.retryMs);
      try {
        await send(attempts, delivery);
      } finally {
        place.release();
      }
    },

    async abandonWebhook({ deliveryId }: { deliveryId: string }): Promise<void> {
      await failDeliveries(forkEm(database), [deliveryId], 'cancelled');
    },
  };
}

async function send(attempts: WebhookAttempts, delivery: DeliveryToSend): Promise<void> {
  const attempted = await attempts.attempt(delivery, cancellationSignal());
  if (attempted.kind === 'aborted') throw new CancelledFailure('The attempt was cut off.');
  if (attempted.kind === 'retry') throw tryLater(attempted.failure, attempted.retryMs);
  if (attempted.kind === 'failed') throw endRun(WEBHOOK_FAILURES[attempted.failure], attempted.failure);
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
