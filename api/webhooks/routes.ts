// The routes of webhooks: the same for sessions under /api and for bearer keys under /v1.
import { BODY_BYTES_MAX, type Route } from '../context.ts';
import { listWebhookDeliveries, resendWebhookDelivery, testWebhook } from './deliveries.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  listWebhooks,
  readWebhook,
  rotateWebhookSecret,
} from './endpoints.ts';

const session = { proof: 'session', limit: 'read' } as const;
const key = { proof: 'key', limit: 'read' } as const;
/** What makes the gateway call an address is counted for the user, whichever of their keys asks. */
const sends = { limit: 'webhook' } as const;
const body = { bodyBytesMax: BODY_BYTES_MAX } as const;

export const CONSOLE_WEBHOOK_ROUTES = [
  { method: 'GET', path: '/api/webhooks', ...session, heavy: true, handle: listWebhooks },
  { method: 'POST', path: '/api/webhooks', ...session, ...body, handle: createWebhook },
  { method: 'GET', path: '/api/webhooks/:id', ...session, handle: readWebhook },
  { method: 'PATCH', path: '/api/webhooks/:id', ...session, ...body, handle: changeWebhook },
  { method: 'DELETE', path: '/api/webhooks/:id', ...session, handle: deleteWebhook },
  { method: 'POST', path: '/api/webhooks/:id/rotate-secret', ...session, handle: rotateWebhookSecret },
  { method: 'POST', path: '/api/webhooks/:id/test', ...session, ...sends, handle: testWebhook },
  {
    method: 'GET',
    path: '/api/webhooks/:id/deliveries',
    ...session,
    heavy: true,
    handle: listWebhookDeliveries,
  },
  {
    method: 'POST',
    path: '/api/webhooks/:id/deliveries/:deliveryId/resend',
    ...session,
    ...sends,
    handle: resendWebhookDelivery,
  },
] as const satisfies readonly Route[];

export const V1_WEBHOOK_ROUTES = [
  { method: 'GET', path: '/v1/webhooks', ...key, heavy: true, handle: listWebhooks },
  { method: 'POST', path: '/v1/webhooks', ...key, ...body, handle: createWebhook },
  { method: 'GET', path: '/v1/webhooks/:id', ...key, handle: readWebhook },
  { method: 'PATCH', path: '/v1/webhooks/:id', ...key, ...body, handle: changeWebhook },
  { method: 'DELETE', path: '/v1/webhooks/:id', ...key, handle: deleteWebhook },
  { method: 'POST', path: '/v1/webhooks/:id/rotate-secret', ...key, handle: rotateWebhookSecret },
  { method: 'POST', path: '/v1/webhooks/:id/test', ...key, ...sends, handle: testWebhook },
  { method: 'GET', path: '/v1/webhooks/:id/deliveries', ...key, heavy: true, handle: listWebhookDeliveries },
  {
    method: 'POST',
    path: '/v1/webhooks/:id/deliveries/:deliveryId/resend',
    ...key,
    ...sends,
    handle: resendWebhookDelivery,
  },
] as const satisfies readonly Route[];
