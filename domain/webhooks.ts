// Webhooks: which events there are, what receivers get, when a delivery is tried again, and why it or its
// endpoint ended.
import type { viewTask } from './task-view.ts';

/** Events that tell that a task has ended. */
export const WEBHOOK_TASK_EVENTS = ['task.completed', 'task.failed', 'task.cancelled'] as const;
/** Events that an endpoint can ask for. */
export const WEBHOOK_EVENTS = [...WEBHOOK_TASK_EVENTS, 'balance.low'] as const;
/** Every event that is delivered: `webhook.test` comes when its owner asks for it. */
export const WEBHOOK_EVENT_TYPES = [...WEBHOOK_EVENTS, 'webhook.test'] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** The body of a delivery, before it is written as JSON. */
export type WebhookMessage = {
  [Type in WebhookEventType]: { type: Type; timestamp: string; data: WebhookData<Type> };
}[WebhookEventType];
type WebhookData<Type extends WebhookEventType> = Type extends (typeof WEBHOOK_TASK_EVENTS)[number]
  ? ReturnType<typeof viewTask>
  : Type extends 'balance.low'
    ? { balance: number; reserved: number; available: number; balanceBelow: number }
    : { webhookId: string };
/** What Standard Webhooks adds to the headers of a delivery. */
export type WebhookHeader = 'webhook-id' | 'webhook-timestamp' | 'webhook-signature';

export const WEBHOOK_DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type WebhookDeliveryState = (typeof WEBHOOK_DELIVERY_STATES)[number];

/** How an endpoint does: no attempt failed since its last success, or all did, or it gets nothing. */
export const WEBHOOK_STATES = ['working', 'failing', 'disabled'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** Why an endpoint gets nothing more: its owner said so, it answered 410, or nothing succeeded for days. */
export const WEBHOOK_DISABLED_REASONS = ['owner', 'gone', 'failing'] as const;
export type WebhookDisabledReason = (typeof WEBHOOK_DISABLED_REASONS)[number];

/** Why the last attempt of a delivery was no success, with the sentence for owners and operators. */
export const WEBHOOK_FAILURES = {
  rejected: 'The receiver answered with a status other than 2xx.',
  gone: 'The receiver answered 410 and gets nothing more.',
  timeout: 'The receiver did not answer in time.',
  unreachable: 'No connection to the receiver came about, or it broke.',
  address_refused: 'The address of the receiver is not public.',
  webhook_disabled: 'The webhook or its user was disabled before this could be delivered.',
  cancelled: 'The operator ended the delivery.',
} as const;
export type WebhookFailure = keyof typeof WEBHOOK_FAILURES;

export const WEBHOOKS_PER_USER_MAX = 10;
/** First attempts under way at once in one process, and as many later ones, shared among users. */
export const WEBHOOK_ATTEMPTS_MAX = 1_000;
/** From the look-up of the receiver's name to the status of its answer. */
export const WEBHOOK_TIMEOUT_SECONDS = 15;
/** So much of a receiver's answer is kept for the owner. */
export const WEBHOOK_ANSWER_BYTES_MAX = 16 * 1024;
/** After a rotation the secret before it signs for so long. */
export const WEBHOOK_SECRET_OVERLAP_HOURS = 24;
/** An endpoint without a success for so long is disabled. */
export const WEBHOOK_FAILING_DAYS_MAX = 5;
/** How long after the event a delivery can be read and sent again. */
export const WEBHOOK_KEPT_DAYS = 30;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pauses between attempts, as Standard Webhooks advises. After the last one a delivery has failed. */
export const WEBHOOK_RETRY_DELAYS_MS: readonly number[] = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 14 * HOUR_MS, 20 * HOUR_MS, 24 * HOUR_MS],
];

/** Starting the workflow of a delivery, without knowing Temporal. */
export interface WebhookRuns {
  /** Starts the run, or finds it running. Safe to repeat. */
  startWebhook(webhook: WebhookToRun): Promise<void>;
}

/** What the run of a delivery starts with; no address and no content of the owner. */
export interface WebhookToRun {
  deliveryId: string;
  eventType: WebhookEventType;
  endpointId: string;
  userId: string;
}
