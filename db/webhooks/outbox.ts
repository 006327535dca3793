// The outbox: which deliveries are due, for their first attempt or for the run that makes the later ones. So
// few of an endpoint at a time that a slow receiver delays only itself.
import type { WebhookToRun } from '../../domain/webhooks.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';

/** First attempts under way at once for one endpoint: what is beyond stays in the outbox. */
const UNDER_WAY_MAX = 10;
/** The same while it is failing. */
const UNDER_WAY_MAX_FAILING = 1;
/**
 * Each endpoint gets its part of a claim, but no fewer than these: where many wait, each has its turn often,
 * on connections that are still open.
 */
const TURN_MIN = 3;
/** Runs that are started with one claim, and those of one endpoint among them. */
const RUNS_MAX = 20;
const RUNS_PER_ENDPOINT_MAX = 2;
/**
 * Within this time a first attempt is recorded, or the start of a run confirmed; else the process has died
 * and another one claims it. Twice as long as an attempt may take.
 */
const CLAIM_SECONDS = 30;
/** A run that is so late was lost with Temporal's state, and is started again. */
export const LOST_AFTER_SECONDS = 600;

export interface ClaimedAttempt {
  deliveryId: string;
  endpointId: string;
  userId: string;
}

export interface FirstAttemptsWanted {
  max: number;
  /** What `lastInTurn` tells of the claim before; empty at first. */
  lastEndpointId: string;
  /** Users and endpoints whose deliveries are left to a later claim. */
  without: { userIds: readonly string[]; endpointIds: readonly string[] };
}

/**
 * Claims up to `max` deliveries whose first attempt is due, the oldest of each endpoint. Endpoints get their
 * turns in the order of their ids, after `lastEndpointId`. Two processes never get the same delivery.
 */
export async function claimFirstAttempts(
  em: Em,
  { max, lastEndpointId, without }: FirstAttemptsWanted,
): Promise<ClaimedAttempt[]> {
  const places = [UNDER_WAY_MAX, UNDER_WAY_MAX_FAILING, max, TURN_MIN] as const;
  return claimFirst(em, [...places, CLAIM_SECONDS, lastEndpointId, without.userIds, without.endpointIds]);
}

/** Claims deliveries whose next attempt needs a run, in turns as above. `confirmStarts` has to follow. */
export async function claimDueRuns(em: Em, lastEndpointId: string): Promise<WebhookToRun[]> {
  return claimRuns(em, [RUNS_PER_ENDPOINT_MAX, RUNS_MAX, CLAIM_SECONDS, lastEndpointId]);
}

/** The endpoint whose turn was the last of a claim; as before when the claim is empty. */
export function lastInTurn(claimed: readonly { endpointId: string }[], lastEndpointId: string): string {
  const ids = claimed.map(({ endpointId }) => endpointId).sort();
  return ids.findLast((id) => id <= lastEndpointId) ?? ids.at(-1) ?? lastEndpointId;
}

/** Notes that Temporal has the runs of these deliveries. */
export async function confirmStarts(em: Em, deliveryIds: readonly string[]): Promise<void> {
  await confirm(em, [[...deliveryIds], LOST_AFTER_SECONDS]);
}

/**
 * The endpoints that have such a delivery, found by steps through the index: the cost does not grow with the
 * number of deliveries.
 */
const waitingFor = (deliveries: string): string => `waiting as (
    (select d.endpoint_id from webhook_delivery d where ${deliveries} order by d.endpoint_id limit 1)
    union all
    select (select d.endpoint_id from webhook_delivery d where ${deliveries} and d.endpoint_id > w.endpoint_id
            order by d.endpoint_id limit 1)
    from waiting w where w.endpoint_id is not null
  )`;

const inTurnAfter = (parameter: string): string =>
  `select endpoint_id from waiting where endpoint_id is not null
   order by endpoint_id <= ${parameter}::text, endpoint_id`;

const FIRST = `d.state = 'pending' and d.attempts = 0`;
const AGAIN = `d.state = 'pending' and d.attempts > 0`;

const claimFirst = prepare<ClaimedAttempt>(
  'claim-webhook-first-attempts',
  `with recursive ${waitingFor(FIRST)}, due as (
    select t.id
    from (${inTurnAfter('$6')}) w
    left join webhook_endpoint e on e.id = w.endpoint_id
    cross join lateral (
      select case when e.failing_since is null then $1::int else $2::int end
             - (select count(*) from (
                  select from webhook_delivery d
                  where d.endpoint_id = w.endpoint_id and ${FIRST} and d.relay_after > now()
                  limit $1::int) under_way) as free
    ) room
    cross join lateral (
      select d.id from webhook_delivery d
      where d.endpoint_id = w.endpoint_id and ${FIRST} and d.relay_after <= now()
      order by d.relay_after
      limit least(greatest(room.free, 0), (select greatest($3::int / count(*), $4::int) from waiting))
      for update skip locked
    ) t
    where e.id is null or (e.user_id <> all ($7::text[]) and e.id <> all ($8::text[]))
    limit $3::int
  )
  update webhook_delivery d set relay_after = now() + make_interval(secs => $5) from due
  where d.id = due.id
  returning d.id as "deliveryId", d.endpoint_id as "endpointId", d.user_id as "userId"`,
);

const claimRuns = prepare<WebhookToRun>(
  'claim-webhook-runs',
  `with recursive ${waitingFor(AGAIN)}, due as (
    select t.id from (${inTurnAfter('$4')}) w
    cross join lateral (
      select d.id from webhook_delivery d
      where d.endpoint_id = w.endpoint_id and ${AGAIN} and d.relay_after <= now()
      order by d.relay_after limit $1::int for update skip locked
    ) t
    limit $2::int
  )
  update webhook_delivery d set relay_after = now() + make_interval(secs => $3)
  from due, webhook_event v
  where d.id = due.id and v.id = d.event_id
  returning d.id as "deliveryId", d.endpoint_id as "endpointId", d.user_id as "userId", v.type as "eventType"`,
);

/** A run may have recorded an attempt by then, after which it is lost later than this. */
const confirm = prepare(
  'confirm-webhook-starts',
  `update webhook_delivery set relay_after = now() + make_interval(secs => $2)
   where id = any ($1) and state = 'pending' and relay_after < now() + make_interval(secs => $2)`,
);
