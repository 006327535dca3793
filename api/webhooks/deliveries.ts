// Deliveries of a webhook: listed with the receiver's answers, sent once more, or sent to try it out.
import { z } from 'zod';
import { createTestDelivery, listDeliveries, resendDelivery } from '../../db/webhooks/deliveries.ts';
import { isId } from '../../db/ids.ts';
import type { WebhookEndpoint } from '../../db/entities/webhooks.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { KeyCaller, Reply, RequestContext, SessionCaller } from '../context.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { readQuery } from '../http/request-fields.ts';
import { requireOwnWebhook } from './endpoints.ts';
import { presentDelivery } from './views.ts';

type Context = RequestContext<KeyCaller | SessionCaller>;

export const DELIVERY_LIST_QUERY = z.object(pageQuery('dlv'));

export async function listWebhookDeliveries(ctx: Context): Promise<Reply> {
  const { limit, cursor } = readQuery(DELIVERY_LIST_QUERY, ctx.query);
  const { id } = await requireOwnWebhook(ctx);
  const found = await listDeliveries(ctx.em, id, { limit: limit + 1, beforeId: cursor ?? null });
  return answerPage(found, limit, presentDelivery);
}

export async function testWebhook(ctx: Context): Promise<Reply> {
  const { id: endpointId, userId } = enabled(await requireOwnWebhook(ctx));
  const delivery = await createTestDelivery(ctx.em, { userId, endpointId });
  return { status: 202, body: { data: presentDelivery(delivery) } };
}

export async function resendWebhookDelivery(ctx: Context): Promise<Reply> {
  const { id: endpointId } = enabled(await requireOwnWebhook(ctx));
  const { deliveryId = '' } = ctx.params;
  const sent = isId('dlv', deliveryId) ? await resendDelivery(ctx.em, { endpointId, deliveryId }) : null;
  if (!sent) throw new GatewayError('not_found');
  return { status: 202, body: { data: presentDelivery(sent) } };
}

function enabled(endpoint: WebhookEndpoint): WebhookEndpoint {
  if (endpoint.disabledAt) throw new GatewayError('webhook_disabled');
  return endpoint;
}
