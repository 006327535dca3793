// Removes events and deliveries whose time is over, a batch at a time.
import { sql } from '@mikro-orm/postgresql';
import { WEBHOOK_KEPT_DAYS } from '../../domain/webhooks.ts';
import type { Em } from '../database.ts';

const BATCH = 500;

/** Removes the oldest events with their deliveries, pending ones too. Answers how many events. */
export async function removeOldWebhookEvents(em: Em): Promise<number> {
  const rows = await em.execute<{ id: string }[]>(sql`
    with old as (
      select id from webhook_event where created_at < now() - make_interval(days => ${WEBHOOK_KEPT_DAYS})
      order by created_at limit ${BATCH}
    ), gone as (
      delete from webhook_delivery d using old where d.event_id = old.id
    )
    delete from webhook_event e using old where e.id = old.id returning e.id`);
  return rows.length;
}
