// Presents webhooks and deliveries as JSON for their owner.
import type { WebhookEndpoint } from '../../db/entities/webhooks.ts';
import type { OwnDelivery } from '../../db/webhooks/deliveries.ts';
import { toCredits } from '../../domain/credits.ts';
import { WEBHOOK_EVENTS, WEBHOOK_FAILURES } from '../../domain/webhooks.ts';
import type { WebhookDeliveryView, WebhookView } from '../shapes/webhooks.ts';

export function presentWebhook(endpoint: WebhookEndpoint): WebhookView {
  const { balanceBelow, previousSecretUntil: until } = endpoint;
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description ?? null,
    events: WEBHOOK_EVENTS.filter((event) => endpoint.events.includes(event)),
    balanceBelow: typeof balanceBelow === 'bigint' ? toCredits(balanceBelow) : null,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
    disabledAt: endpoint.disabledAt?.toISOString() ?? null,
    disabledReason: endpoint.disabledReason ?? null,
    failingSince: endpoint.failingSince?.toISOString() ?? null,
    lastSuccessAt: endpoint.lastSuccessAt?.toISOString() ?? null,
    previousSecretUntil: until && until > new Date() ? until.toISOString() : null,
  };
}

export function presentDelivery({ delivery, type, taskId }: OwnDelivery): WebhookDeliveryView {
  const { failure, answerStatus: status } = delivery;
  return {
    id: delivery.id,
    eventId: delivery.eventId,
    type,
    taskId,
    status: delivery.state,
    attempts: delivery.attempts,
    createdAt: delivery.createdAt.toISOString(),
    lastAttemptAt: delivery.lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
    deliveredAt: delivery.deliveredAt?.toISOString() ?? null,
    failure: failure ? { code: failure, message: WEBHOOK_FAILURES[failure] } : null,
    answer: typeof status === 'number' ? { status, body: delivery.answerBody ?? '' } : null,
    durationMs: delivery.answerMs ?? null,
  };
}
