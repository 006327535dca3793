// The webhooks of all users for administrators, and what was or is to be delivered to each. What a receiver
// answered, and the path of its address, are its owner's.
import { z } from 'zod';
import { findEndpoint, listAllEndpoints, type EndpointRecord } from '../../db/webhooks/all-endpoints.ts';
import { listDeliveries, type OwnDelivery } from '../../db/webhooks/deliveries.ts';
import { GatewayError } from '../../domain/errors.ts';
import { WEBHOOK_STATES } from '../../domain/webhooks.ts';
import type { Reply, RequestContext, SessionCaller } from '../context.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { idText, oneOf, readId, readQuery } from '../http/request-fields.ts';
import type { ForeignDeliveryView, ForeignWebhookView } from '../shapes/webhooks.ts';
import { DELIVERY_LIST_QUERY } from '../webhooks/deliveries.ts';
import { presentDelivery, presentWebhook } from '../webhooks/views.ts';

export const ALL_WEBHOOKS_QUERY = z.object({
  ...pageQuery('whk'),
  userId: idText('usr').optional(),
  status: oneOf(WEBHOOK_STATES).optional(),
});

export async function listWebhooksOfAllUsers({ em, query }: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, ...filters } = readQuery(ALL_WEBHOOKS_QUERY, query);
  const found = await listAllEndpoints(em, { limit: limit + 1, beforeId: cursor ?? null, ...filters });
  return answerPage(found, limit, presentForeignWebhook);
}

export async function listDeliveriesOfAnyWebhook(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor } = readQuery(DELIVERY_LIST_QUERY, ctx.query);
  const found = await findEndpoint(ctx.em, readId('whk', ctx.params));
  if (!found) throw new GatewayError('not_found');
  const page = { limit: limit + 1, beforeId: cursor ?? null };
  return answerPage(await listDeliveries(ctx.em, found.id, page), limit, presentForeignDelivery);
}

function presentForeignWebhook({ endpoint, pending }: EndpointRecord): ForeignWebhookView {
  const { url, description: _description, balanceBelow: _balanceBelow, ...view } = presentWebhook(endpoint);
  return {
    ...view,
    userId: endpoint.userId,
    origin: new URL(url).origin,
    pending: { ...pending, oldestAt: pending.oldestAt?.toISOString() ?? null },
  };
}

function presentForeignDelivery(delivery: OwnDelivery): ForeignDeliveryView {
  const { answer, ...view } = presentDelivery(delivery);
  return { ...view, answerStatus: answer?.status ?? null };
}
