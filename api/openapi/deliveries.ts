// Describes what the gateway sends to webhooks: the section `webhooks` of the OpenAPI document.
import {
  WEBHOOK_ANSWER_BYTES_MAX,
  WEBHOOK_FAILING_DAYS_MAX,
  WEBHOOK_RETRY_DELAYS_MS,
  WEBHOOK_SECRET_OVERLAP_HOURS,
  WEBHOOK_TIMEOUT_SECONDS,
  type WebhookEventType,
  type WebhookHeader,
  type WebhookMessage,
} from '../../domain/webhooks.ts';
import { id } from '../shapes/basics.ts';
import { WEBHOOK_MESSAGES } from '../shapes/webhooks.ts';
import { writeSchema, type JsonObject, type NamedSchemas } from './json-schema.ts';
import type { Tag } from './route-description.ts';

const TAG: Tag = 'Webhooks';
const SIGNATURE = 'v1,[A-Za-z0-9+/]{43}=';
const HOUR_MS = 3_600_000;

/** One operation for each type of event, under its type. Names its schemas in `named`. */
export function describeDeliveries(named: NamedSchemas): { [type: string]: { post: JsonObject } } {
  return Object.fromEntries(
    Object.entries(DELIVERIES).map(([type, { id: operationId, summary, example }]) => {
      const schema = writeSchema(WEBHOOK_MESSAGES[type as WebhookEventType], 'output', named);
      const post = {
        operationId,
        tags: [TAG],
        summary,
        description: DESCRIPTION,
        security: [],
        parameters: Object.keys(DELIVERY_PARAMETERS).map((name) => ({
          $ref: `#/components/parameters/${name}`,
        })),
        requestBody: { required: true, content: { 'application/json': { schema, example } } },
        responses: RESPONSES,
      };
      return [type, { post }];
    }),
  );
}

const DESCRIPTION =
  'Sent to each webhook that asks for it, at least once and in no order; `webhook-id` is the same in every attempt. Signed as Standard Webhooks defines it: verify the body as it arrived, with the secret of the webhook, before you read it.';

const HEADERS: Readonly<Record<WebhookHeader, JsonObject>> = {
  'webhook-id': {
    description: 'The id of the event: what came with it before is a repetition.',
    schema: writeSchema(id('evt'), 'output', new Map()),
  },
  'webhook-timestamp': {
    description: 'When this attempt was made, in Unix seconds. Refuse what is more than five minutes away.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  'webhook-signature': {
    description: `HMAC-SHA256 of \`id.timestamp.body\`, base64 after \`v1,\`. For ${WEBHOOK_SECRET_OVERLAP_HOURS} hours after a rotation of the secret two of them, with a space between: one that is right is enough.`,
    schema: { type: 'string', pattern: `^${SIGNATURE}( ${SIGNATURE})?$` },
  },
};

/** The headers as components of the document: `WebhookId` and so on. */
export const DELIVERY_PARAMETERS: JsonObject = Object.fromEntries(
  Object.entries(HEADERS).map(([name, header]) => [
    name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase()),
    { name, in: 'header', required: true, ...header },
  ]),
);

const RESPONSES: JsonObject = {
  '2XX': {
    description: `Taken. The status counts, within ${WEBHOOK_TIMEOUT_SECONDS} seconds; of the body, ${WEBHOOK_ANSWER_BYTES_MAX / 1024} KB are kept for you to read.`,
  },
  410: { description: 'The webhook is disabled at once and gets nothing more.' },
  default: {
    description: `Anything else, a redirect included, and no answer in time: sent again after ${WEBHOOK_RETRY_DELAYS_MS.map(writePause).join(', ')}. Then this delivery has failed. ${WEBHOOK_FAILING_DAYS_MAX} days without a success disable the webhook.`,
  },
};

function writePause(ms: number): string {
  if (ms >= HOUR_MS) return `${ms / HOUR_MS} h`;
  return ms >= 60_000 ? `${ms / 60_000} min` : `${ms / 1000} s`;
}

type DeliveryDescription<Type> = {
  id: string;
  summary: string;
  /** What the sender could send: its type is the sender's own, and the tests hold it against the schema. */
  example: Extract<WebhookMessage, { type: Type }>;
};

const AT = '2026-11-20T09:30:00.000Z';
const ENDED: Extract<WebhookMessage, { type: 'task.completed' }>['data'] = {
  id: 'task_01KB5M8Z3T7QW2E9R4XVN6HJCD',
  keyId: 'key_01KB5M8Z3T7QW2E9R4XVN6HJCE',
  mode: 'image',
  model: 'gpt-image-2',
  status: 'completed',
  progress: 100,
  creditsEstimate: 4,
  creditsCharged: 4,
  creditsRefunded: 0,
  billingMode: 'per_image',
  breakdown: {
    ordered: [{ item: '1K', quantity: 1, credits: 4 }],
    charged: [{ item: '1K', quantity: 1, credits: 4 }],
  },
  upstreamTaskId: null,
  outputUrl: 'https://gateway.example.com/results/a.png',
  outputs: [{ url: 'https://gateway.example.com/results/a.png', contentType: 'image/png', previewUrl: null }],
  outputText: null,
  errorMessage: null,
  errorCode: null,
  requestPayload: { model: 'gpt-image-2', resolution: '1K', size: '3:2' },
  attempt: 1,
  createdAt: '2026-11-20T09:29:00.000Z',
  updatedAt: AT,
  startedAt: '2026-11-20T09:29:01.000Z',
  completedAt: AT,
  cancelRequestedAt: null,
  resultExpiredAt: null,
};
const UNPAID = {
  ...ENDED,
  progress: 0,
  creditsCharged: 0,
  breakdown: { ...ENDED.breakdown, charged: [] },
  outputUrl: null,
  outputs: [],
};

const DELIVERIES: { readonly [Type in WebhookEventType]: DeliveryDescription<Type> } = {
  'task.completed': {
    id: 'onTaskCompleted',
    summary: 'A task was completed',
    example: { type: 'task.completed', timestamp: AT, data: ENDED },
  },
  'task.failed': {
    id: 'onTaskFailed',
    summary: 'A task failed',
    example: {
      type: 'task.failed',
      timestamp: AT,
      data: {
        ...UNPAID,
        status: 'failed',
        errorCode: 'content_rejected',
        errorMessage: 'The vendor refused the content.',
      },
    },
  },
  'task.cancelled': {
    id: 'onTaskCancelled',
    summary: 'A task was cancelled',
    example: {
      type: 'task.cancelled',
      timestamp: AT,
      data: { ...UNPAID, status: 'cancelled', cancelRequestedAt: AT },
    },
  },
  'balance.low': {
    id: 'onBalanceLow',
    summary: 'A charge took the balance below `balanceBelow`',
    example: {
      type: 'balance.low',
      timestamp: AT,
      data: { balance: 48, reserved: 8, available: 40, balanceBelow: 50 },
    },
  },
  'webhook.test': {
    id: 'onWebhookTest',
    summary: 'You asked for a test',
    example: {
      type: 'webhook.test',
      timestamp: AT,
      data: { webhookId: 'whk_01KB5M8Z3T7QW2E9R4XVN6HJCD' },
    },
  },
};
