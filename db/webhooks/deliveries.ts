// What was or is to be delivered to a webhook, for its owner to read, to test and to send again.
import { sql } from '@mikro-orm/postgresql';
import type { WebhookEventType } from '../../domain/webhooks.ts';
import { WebhookDeliveryEntity, type WebhookDelivery } from '../entities/webhooks.ts';
import { makeId } from '../ids.ts';
import type { Em } from '../database.ts';
import { readRow } from '../read-row.ts';

/** A delivery with what its event was. */
export interface OwnDelivery {
  id: string;
  delivery: WebhookDelivery;
  type: WebhookEventType;
  taskId: string | null;
}

/** The deliveries to one endpoint, newest first, older than `beforeId` if given; at most `limit`. */
export async function listDeliveries(
  em: Em,
  endpointId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<OwnDelivery[]> {
  const before = beforeId === null ? sql`` : sql`and d.id < ${beforeId}`;
  return read(em, sql`d.endpoint_id = ${endpointId} ${before} order by d.id desc limit ${limit}`);
}

/** Makes an event of no meaning and its delivery. */
export async function createTestDelivery(
  em: Em,
  { userId, endpointId }: { userId: string; endpointId: string },
): Promise<OwnDelivery> {
  const eventId = makeId('evt');
  const id = makeId('dlv');
  await em.execute(sql`
    with event as (
      insert into webhook_event (id, user_id, type, data)
      values (${eventId}, ${userId}, 'webhook.test', ${JSON.stringify({ webhookId: endpointId })}::jsonb)
    )
    insert into webhook_delivery (id, event_id, endpoint_id, user_id)
    values (${id}, ${eventId}, ${endpointId}, ${userId})`);
  return requireDelivery(em, id);
}

/** Delivers the event of a delivery once more, as a delivery of its own; null when there is none such. */
export async function resendDelivery(
  em: Em,
  { endpointId, deliveryId }: { endpointId: string; deliveryId: string },
): Promise<OwnDelivery | null> {
  const id = makeId('dlv');
  const rows = await em.execute<{ id: string }[]>(sql`
    insert into webhook_delivery (id, event_id, endpoint_id, user_id)
    select ${id}, d.event_id, d.endpoint_id, d.user_id
    from webhook_delivery d join webhook_event e on e.id = d.event_id
    where d.id = ${deliveryId} and d.endpoint_id = ${endpointId}
    returning id`);
  return rows.length === 0 ? null : requireDelivery(em, id);
}

async function requireDelivery(em: Em, id: string): Promise<OwnDelivery> {
  const [found] = await read(em, sql`d.id = ${id}`);
  if (!found) throw new Error(`the delivery ${id} is missing`);
  return found;
}

async function read(em: Em, which: ReturnType<typeof sql>): Promise<OwnDelivery[]> {
  const rows = await em.execute<
    ({ id: string; type: WebhookEventType; task_id: string | null } & object)[]
  >(sql`
    select d.*, e.type, e.task_id from webhook_delivery d join webhook_event e on e.id = d.event_id
    where ${which}`);
  return rows.map(({ type, task_id: taskId, ...columns }) => {
    const delivery = readRow(em, WebhookDeliveryEntity, columns);
    return { id: delivery.id, delivery, type, taskId };
  });
}
