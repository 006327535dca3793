// Descriptions of the routes for webhooks, which sessions and bearer keys share.
import { DELIVERY_LIST_QUERY } from '../../webhooks/deliveries.ts';
import {
  NEW_WEBHOOK_BODY,
  NEW_WEBHOOK_BODY_V1,
  WEBHOOK_CHANGES,
  WEBHOOK_CHANGES_V1,
  WEBHOOK_LIST_QUERY,
} from '../../webhooks/endpoints.ts';
import { dataOf, pageOf } from '../../shapes/basics.ts';
import { NEW_WEBHOOK, WEBHOOK, WEBHOOK_DELIVERY } from '../../shapes/webhooks.ts';
import type { RouteDescription } from '../route-description.ts';

const tag = 'Webhooks';
const webhook = { 200: { description: 'The webhook.', shape: dataOf(WEBHOOK) } };
const NEW_EXAMPLES = {
  'Ends of tasks': { url: 'https://example.com/hooks', events: ['task.completed', 'task.failed'] },
  'A low balance': { url: 'https://example.com/hooks', events: ['balance.low'], balanceBelow: 50 },
};
const CHANGE_EXAMPLES = { 'Enable it again': { disabled: false } };

const UNDER_V1 = {
  'GET /v1/webhooks': {
    id: 'listWebhooks',
    tag,
    summary: 'List your webhooks',
    query: WEBHOOK_LIST_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(WEBHOOK) } },
  },
  'POST /v1/webhooks': {
    id: 'createWebhook',
    tag,
    summary: 'Make a webhook',
    description:
      'The answer is the only place where the secret appears. Events are sent as Standard Webhooks defines them: body `{ type, timestamp, data }`, signed with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`. Anything but 2xx is sent again, ten attempts in three days; 410 disables.',
    body: { schema: NEW_WEBHOOK_BODY_V1, examples: NEW_EXAMPLES },
    responses: { 201: { description: 'The webhook and its secret.', shape: dataOf(NEW_WEBHOOK) } },
    refusals: ['url_not_allowed', 'conflicting_params', 'webhook_limit_reached'],
  },
  'GET /v1/webhooks/:id': {
    id: 'readWebhook',
    tag,
    summary: 'Read a webhook',
    responses: webhook,
    refusals: ['not_found'],
  },
  'PATCH /v1/webhooks/:id': {
    id: 'changeWebhook',
    tag,
    summary: 'Change, disable or enable a webhook',
    description: 'Absent fields stay as they are. Enabling forgets how long it has been failing.',
    body: { schema: WEBHOOK_CHANGES_V1, examples: CHANGE_EXAMPLES },
    responses: webhook,
    refusals: ['url_not_allowed', 'conflicting_params', 'not_found'],
  },
  'DELETE /v1/webhooks/:id': {
    id: 'deleteWebhook',
    tag,
    summary: 'Delete a webhook',
    description: 'Once this is answered, nothing more is sent to it.',
    responses: { 204: { description: 'It is gone.' } },
    refusals: ['not_found'],
  },
  'POST /v1/webhooks/:id/rotate-secret': {
    id: 'rotateWebhookSecret',
    tag,
    summary: 'Give a webhook a new secret',
    description: 'For 24 hours both the new and the old secret sign.',
    responses: { 200: { description: 'The webhook and its new secret.', shape: dataOf(NEW_WEBHOOK) } },
    refusals: ['not_found'],
  },
  'POST /v1/webhooks/:id/test': {
    id: 'testWebhook',
    tag,
    summary: 'Send a test event',
    description: 'An event `webhook.test`, whether or not the webhook asks for it.',
    responses: { 202: { description: 'It is on its way.', shape: dataOf(WEBHOOK_DELIVERY) } },
    refusals: ['not_found', 'webhook_disabled'],
  },
  'GET /v1/webhooks/:id/deliveries': {
    id: 'listWebhookDeliveries',
    tag,
    summary: 'List what was sent, with the answers',
    description: 'Kept for 30 days.',
    query: DELIVERY_LIST_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(WEBHOOK_DELIVERY) } },
    refusals: ['not_found'],
  },
  'POST /v1/webhooks/:id/deliveries/:deliveryId/resend': {
    id: 'resendWebhookDelivery',
    tag,
    summary: 'Send an event again',
    description: 'As a delivery of its own, with the same `webhook-id`.',
    responses: { 202: { description: 'The new delivery.', shape: dataOf(WEBHOOK_DELIVERY) } },
    refusals: ['not_found', 'webhook_disabled'],
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;

/** The same routes with the cookie, where unknown fields are refused. */
export const WEBHOOK_DESCRIPTIONS = {
  ...UNDER_V1,
  'GET /api/webhooks': { ...UNDER_V1['GET /v1/webhooks'], id: 'listWebhooksInConsole' },
  'POST /api/webhooks': {
    ...UNDER_V1['POST /v1/webhooks'],
    id: 'createWebhookInConsole',
    body: { schema: NEW_WEBHOOK_BODY, examples: NEW_EXAMPLES },
  },
  'GET /api/webhooks/:id': { ...UNDER_V1['GET /v1/webhooks/:id'], id: 'readWebhookInConsole' },
  'PATCH /api/webhooks/:id': {
    ...UNDER_V1['PATCH /v1/webhooks/:id'],
    id: 'changeWebhookInConsole',
    body: { schema: WEBHOOK_CHANGES, examples: CHANGE_EXAMPLES },
  },
  'DELETE /api/webhooks/:id': { ...UNDER_V1['DELETE /v1/webhooks/:id'], id: 'deleteWebhookInConsole' },
  'POST /api/webhooks/:id/rotate-secret': {
    ...UNDER_V1['POST /v1/webhooks/:id/rotate-secret'],
    id: 'rotateWebhookSecretInConsole',
  },
  'POST /api/webhooks/:id/test': {
    ...UNDER_V1['POST /v1/webhooks/:id/test'],
    id: 'testWebhookInConsole',
  },
  'GET /api/webhooks/:id/deliveries': {
    ...UNDER_V1['GET /v1/webhooks/:id/deliveries'],
    id: 'listWebhookDeliveriesInConsole',
  },
  'POST /api/webhooks/:id/deliveries/:deliveryId/resend': {
    ...UNDER_V1['POST /v1/webhooks/:id/deliveries/:deliveryId/resend'],
    id: 'resendWebhookDeliveryInConsole',
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;
