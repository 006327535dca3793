// The outbox: which deliveries are due for their run, so few of an endpoint at a time that a slow receiver
// delays only itself.
import type { WebhookToRun } from '../../domain/webhooks.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';

/** First attempts under way at once for one endpoint: what is beyond stays in the outbox. */
const UNDER_WAY_MAX = 10;
/** The same while it is failing. */
const UNDER_WAY_MAX_FAILING = 1;
/** Deliveries in one claim. */
const BATCH = 20;
/** Within this time a claim is confirmed, or its process has died and another one claims it. */
const CLAIM_SECONDS = 30;
/** A run that is so late was lost with Temporal's state, and is started again. */
export const LOST_AFTER_SECONDS = 600;

/**
 * Claims deliveries that are due, the oldest of each endpoint first. Two processes never get the same one.
 * `confirmStarts` has to follow.
 */
export async function claimDueDeliveries(em: Em): Promise<WebhookToRun[]> {
  return claim(em, [UNDER_WAY_MAX, UNDER_WAY_MAX_FAILING, BATCH, CLAIM_SECONDS]);
}

/** Notes that Temporal has the runs of these deliveries. */
export async function confirmStarts(em: Em, deliveryIds: readonly string[]): Promise<void> {
  await confirm(em, [[...deliveryIds], LOST_AFTER_SECONDS]);
}

/**
 * `waiting` steps from endpoint to endpoint through the index of pending deliveries, so that its cost does
 * not grow with their number.
 */
const claim = prepare<WebhookToRun>(
  'claim-webhook-deliveries',
  `with recursive waiting as (
    (select d.endpoint_id from webhook_delivery d where d.state = 'pending' order by d.endpoint_id limit 1)
    union all
    select (select d.endpoint_id from webhook_delivery d where d.state = 'pending' and d.endpoint_id > w.endpoint_id
            order by d.endpoint_id limit 1)
    from waiting w where w.endpoint_id is not null
  ), due as (
    select d.id from waiting w
    left join webhook_endpoint e on e.id = w.endpoint_id
    cross join lateral (
      select case when e.failing_since is null then $1::int else $2::int end
             - (select count(*) from (
                  select from webhook_delivery u
                  where u.endpoint_id = w.endpoint_id and u.state = 'pending' and u.relay_after > now() and u.attempts = 0
                  limit $1::int) under_way) as free
    ) room
    cross join lateral (
      select i.id from webhook_delivery i
      where i.endpoint_id = w.endpoint_id and i.state = 'pending' and i.relay_after <= now()
      order by i.relay_after limit greatest(room.free, 0) for update skip locked
    ) d
    where w.endpoint_id is not null
    limit $3
  )
  update webhook_delivery d set relay_after = now() + make_interval(secs => $4)
  from due, webhook_event v
  where d.id = due.id and v.id = d.event_id
  returning d.id as "deliveryId", d.endpoint_id as "endpointId", d.user_id as "userId", v.type as "eventType"`,
);

const confirm = prepare(
  'confirm-webhook-starts',
  `update webhook_delivery set relay_after = now() + make_interval(secs => $2)
   where id = any ($1) and state = 'pending' and attempts = 0`,
);
