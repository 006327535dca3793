// JSON of webhooks, of their deliveries, and of what receivers get.
import { z } from 'zod';
import {
  WEBHOOK_DELIVERY_STATES,
  WEBHOOK_DISABLED_REASONS,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_EVENTS,
  WEBHOOK_FAILURES,
  type WebhookEventType,
  type WebhookFailure,
} from '../../domain/webhooks.ts';
import { credits, id, instant } from './basics.ts';
import { TASK } from './tasks.ts';

const fields = {
  id: id('whk'),
  url: z.string(),
  description: z.string().nullable(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  balanceBelow: credits.nullable().describe('`balance.low` comes when the balance falls below this.'),
  createdAt: instant,
  updatedAt: instant,
  disabledAt: instant.nullable().describe('Since when it gets nothing; null while it is enabled.'),
  disabledReason: z
    .enum(WEBHOOK_DISABLED_REASONS)
    .nullable()
    .describe('You disabled it, it answered 410 (`gone`), or nothing succeeded for five days (`failing`).'),
  failingSince: instant.nullable().describe('Since when every attempt has failed.'),
  lastSuccessAt: instant.nullable().describe('To the minute.'),
  previousSecretUntil: instant
    .nullable()
    .describe('Until then the secret before the last rotation signs as well.'),
};

export const WEBHOOK = z
  .strictObject(fields)
  .meta({ id: 'Webhook', description: 'An address that is told of events, without its secret.' });
export type WebhookView = z.output<typeof WEBHOOK>;

export const NEW_WEBHOOK = z
  .strictObject({
    ...fields,
    secret: z.string().meta({
      description: 'Verifies signatures. Shown here and never again.',
      examples: ['whsec_MfKQ9r8G…'],
    }),
  })
  .meta({ id: 'NewWebhook' });

const failures = Object.keys(WEBHOOK_FAILURES) as [WebhookFailure, ...WebhookFailure[]];

export const WEBHOOK_DELIVERY = z
  .strictObject({
    id: id('dlv'),
    eventId: id('evt', 'Sent as `webhook-id`: the same in every attempt.'),
    type: z.enum(WEBHOOK_EVENT_TYPES),
    taskId: id('task').nullable(),
    status: z.enum(WEBHOOK_DELIVERY_STATES),
    attempts: z.int().min(0),
    createdAt: instant,
    lastAttemptAt: instant.nullable(),
    nextAttemptAt: instant.nullable(),
    deliveredAt: instant.nullable(),
    failure: z
      .strictObject({ code: z.enum(failures), message: z.string() })
      .nullable()
      .describe('Why the last attempt was no success.'),
    answer: z
      .strictObject({
        status: z.int(),
        body: z.string().describe('Its beginning: at most 16 KB.'),
      })
      .nullable()
      .describe('The last answer of the receiver.'),
    durationMs: z.int().min(0).nullable().describe('How long the last attempt took.'),
  })
  .meta({ id: 'WebhookDelivery', description: 'One event on its way to one webhook.' });
export type WebhookDeliveryView = z.output<typeof WEBHOOK_DELIVERY>;

const ENDED_TASK = TASK.extend({
  status: TASK.shape.status.describe('As it was at the event: what the type says.'),
  requestPayload: z.record(z.string(), z.unknown()).describe('The request, masked, without its prompt.'),
}).meta({ id: 'EndedTask', description: 'The task as its owner reads it, as it was when it ended.' });
const LOW_BALANCE = z.strictObject({
  balance: credits,
  reserved: credits,
  available: credits,
  balanceBelow: credits.describe('Of the webhook.'),
});

const { url: _url, description: _description, balanceBelow: _balanceBelow, ...foreignFields } = fields;
export const FOREIGN_WEBHOOK = z
  .strictObject({
    ...foreignFields,
    userId: id('usr'),
    origin: z.string().describe('Of its address, whose path may be a secret.'),
    pending: z
      .strictObject({
        first: z.int().min(0).describe('Deliveries before their first attempt.'),
        again: z.int().min(0).describe('Deliveries that are to be tried again, each as a workflow.'),
        oldestAt: instant.nullable(),
      })
      .describe('What is still to be delivered.'),
  })
  .meta({ id: 'ForeignWebhook', description: 'A webhook of any user as administrators see it.' });
export type ForeignWebhookView = z.output<typeof FOREIGN_WEBHOOK>;

export const FOREIGN_WEBHOOK_DELIVERY = WEBHOOK_DELIVERY.omit({ answer: true })
  .extend({ answerStatus: z.int().nullable().describe('The status of the last answer.') })
  .meta({
    id: 'ForeignWebhookDelivery',
    description: 'A delivery to a webhook of any user; the answer is its owner’s.',
  });
export type ForeignDeliveryView = z.output<typeof FOREIGN_WEBHOOK_DELIVERY>;

/** The bodies of deliveries. */
export const WEBHOOK_MESSAGES = {
  'task.completed': message('task.completed', 'TaskCompletedEvent', ENDED_TASK),
  'task.failed': message('task.failed', 'TaskFailedEvent', ENDED_TASK),
  'task.cancelled': message('task.cancelled', 'TaskCancelledEvent', ENDED_TASK),
  'balance.low': message('balance.low', 'BalanceLowEvent', LOW_BALANCE),
  'webhook.test': message('webhook.test', 'WebhookTestEvent', z.strictObject({ webhookId: id('whk') })),
} as const satisfies Readonly<Record<WebhookEventType, z.ZodType>>;

function message(type: WebhookEventType, name: string, data: z.ZodType) {
  const timestamp = instant.describe('When it happened, in every attempt the same.');
  return z.strictObject({ type: z.literal(type), timestamp, data }).meta({ id: name });
}
