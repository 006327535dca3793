// Webhooks: endpoints of users, events for them, and deliveries, which are the outbox and its log.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { JsonValue } from '../../domain/json.ts';
import type {
  WebhookDeliveryState,
  WebhookDisabledReason,
  WebhookEventType,
  WebhookFailure,
} from '../../domain/webhooks.ts';

export const WebhookEndpointEntity = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoint',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    url: p.text(),
    description: p.text().nullable(),
    events: p.array().$type<WebhookEventType[]>(),
    /** In micro-credits; null where `balance.low` is not asked for. */
    balanceBelow: p.bigint('bigint').nullable(),
    secretKeyId: p.text(),
    /** The secrets that sign, newest first, as an encrypted JSON array. */
    secrets: p.blob(),
    /** Until when the second of them signs. */
    previousSecretUntil: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
    disabledAt: p.datetime().nullable(),
    disabledReason: p.text().$type<WebhookDisabledReason>().nullable(),
    /** Since when every attempt has failed; null after a success. */
    failingSince: p.datetime().nullable(),
    /** To the minute. */
    lastSuccessAt: p.datetime().nullable(),
  },
});
export type WebhookEndpoint = InferEntity<typeof WebhookEndpointEntity>;

export const WebhookEventEntity = defineEntity({
  name: 'WebhookEvent',
  tableName: 'webhook_event',
  properties: {
    /** Sent as `webhook-id`, the same in every attempt and to every endpoint. */
    id: p.text().primary(),
    userId: p.text(),
    type: p.text().$type<WebhookEventType>(),
    taskId: p.text().nullable(),
    /** The row of the task at its end, without the payload, which never changes. */
    task: p.json<{ [column: string]: JsonValue }>().nullable(),
    data: p.json<{ [field: string]: string }>().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

export const WebhookDeliveryEntity = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_delivery',
  properties: {
    id: p.text().primary(),
    eventId: p.text(),
    endpointId: p.text(),
    userId: p.text(),
    state: p.text().$type<WebhookDeliveryState>().default('pending'),
    attempts: p.integer().default(0),
    createdAt: p.datetime().defaultRaw('now()'),
    /** When the relay starts the run, or starts it again if nothing was heard of it. */
    relayAfter: p.datetime().defaultRaw('now()'),
    nextAttemptAt: p.datetime().nullable(),
    lastAttemptAt: p.datetime().nullable(),
    deliveredAt: p.datetime().nullable(),
    /** Why the last attempt was no success; null before the first, and after a success. */
    failure: p.text().$type<WebhookFailure>().nullable(),
    answerStatus: p.integer().nullable(),
    /** The beginning of the last answer. */
    answerBody: p.text().nullable(),
    answerMs: p.integer().nullable(),
  },
});
export type WebhookDelivery = InferEntity<typeof WebhookDeliveryEntity>;
