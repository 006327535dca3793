// Attempts to deliver: the hold on their endpoints while they are written, and what came of them.
import { sql } from '@mikro-orm/postgresql';
import { WEBHOOK_FAILING_DAYS_MAX, type WebhookFailure } from '../../domain/webhooks.ts';
import { storableText } from '../../domain/storable-text.ts';
import { COMMAND_LINE, insertAuditEntry, type AuditOrigin } from '../audit-log.ts';
import type { Em } from '../database.ts';
import { prepare } from '../prepared.ts';
import { LOST_AFTER_SECONDS } from './outbox.ts';
import type { DeliveryToSend } from './to-send.ts';

/** What came of an attempt that was no success. */
export interface FailedAttempt {
  failure: WebhookFailure;
  status: number | null;
  /** The beginning of the answer. */
  body: string | null;
  ms: number;
  /** Until the next attempt; null when there is none. */
  retryMs: number | null;
}

/** Origin of what the deliveries themselves change. */
const DELIVERY: AuditOrigin = { ...COMMAND_LINE, userAgent: 'webhook delivery' };

/** A request that is written while its endpoint is held. */
export interface HeldWrite {
  endpointId: string;
  write: () => Promise<void>;
}

/**
 * Runs each `write` while its endpoint cannot be deleted: who deletes it waits, and once it is gone nothing
 * is written. Answers false, without writing, where it is gone, or it or its user is disabled. Other changes
 * do not wait.
 */
export async function whileEndpointsExist(em: Em, writes: readonly HeldWrite[]): Promise<boolean[]> {
  const ids = [...new Set(writes.map(({ endpointId }) => endpointId))];
  return em.transactional(async (tx) => {
    const found = new Set((await hold(tx, [ids])).map(({ id }) => id));
    const permitted = writes.filter(({ endpointId }) => found.has(endpointId));
    await Promise.all(permitted.map(({ write }) => write()));
    return writes.map(({ endpointId }) => found.has(endpointId));
  });
}

/** Its end waits for no disk, since there is nothing in it to be lost. */
const hold = prepare<{ id: string }>(
  'hold-webhook-endpoints',
  `select e.id from (select set_config('synchronous_commit', 'off', true)) unlogged, webhook_endpoint e
   where e.id = any ($1) and e.disabled_at is null
     and exists (select from app_user u where u.id = e.user_id and u.disabled_at is null)
   for key share of e`,
);

/** A delivery that its receiver took. */
export interface TakenDelivery {
  id: string;
  status: number;
  /** The beginning of the answer. */
  body: string;
  ms: number;
}

/**
 * Writes that receivers took these deliveries, and that their endpoints work. An endpoint that is being
 * changed at the moment is left as it is: the next success tells the same.
 */
export async function recordTaken(em: Em, taken: readonly TakenDelivery[]): Promise<void> {
  await take(em, [
    taken.map(({ id }) => id),
    taken.map(({ status }) => status),
    taken.map(({ body }) => storableText(body)),
    taken.map(({ ms }) => ms),
  ]);
}

const take = prepare(
  'record-taken-webhooks',
  `with taken as (
    update webhook_delivery d
    set state = 'delivered', attempts = attempts + 1, last_attempt_at = now(), delivered_at = now(), failure = null,
        answer_status = i.status, answer_body = i.body, answer_ms = i.ms, next_attempt_at = null
    from unnest($1::text[], $2::int[], $3::text[], $4::int[]) i (id, status, body, ms)
    where d.id = i.id and d.state = 'pending'
    returning d.endpoint_id
  )
  update webhook_endpoint set failing_since = null, last_success_at = now()
  where id in (
    select e.id from webhook_endpoint e
    where e.id in (select endpoint_id from taken)
      and (e.failing_since is not null or coalesce(e.last_success_at < now() - interval '1 minute', true))
    for no key update skip locked)`,
);

/**
 * Writes that an attempt failed, on the delivery and on its endpoint, which it disables after 410 or when
 * nothing succeeded for days. After the first attempt the delivery is due for its run with the next one. A
 * repeat of a recorded final attempt changes nothing.
 */
export async function recordFailed(
  em: Em,
  { id, endpoint }: Pick<DeliveryToSend, 'id' | 'endpoint'>,
  { failure, status, body, ms, retryMs }: FailedAttempt,
): Promise<void> {
  const state = retryMs === null ? 'failed' : 'pending';
  const nextSeconds = retryMs === null ? null : retryMs / 1000;
  const entry = { targetType: 'webhook', targetId: endpoint.id, userId: endpoint.userId };
  const detail = { reason: failure === 'gone' ? 'gone' : 'failing' };
  const disabling = { action: 'DISABLE_WEBHOOK', ...entry, detail } as const;
  await em.execute(sql`
    with attempt as (
      update webhook_delivery
      set state = ${state}, attempts = attempts + 1, last_attempt_at = now(), failure = ${failure},
          answer_status = ${status}::int, answer_body = ${body === null ? null : storableText(body)},
          answer_ms = ${ms}::int,
          next_attempt_at = now() + make_interval(secs => ${nextSeconds}::float8),
          relay_after = now() + make_interval(
            secs => coalesce(${nextSeconds}::float8, 0) + case when attempts = 0 then 0 else ${LOST_AFTER_SECONDS} end)
      where id = ${id} and state = 'pending'
      returning endpoint_id
    ), failing as (
      update webhook_endpoint e
      set failing_since = coalesce(e.failing_since, now()),
          disabled_at = case when ${failure === 'gone'}
            or e.failing_since < now() - make_interval(days => ${WEBHOOK_FAILING_DAYS_MAX}) then now() end,
          disabled_reason = case when ${failure === 'gone'} then 'gone'
            when e.failing_since < now() - make_interval(days => ${WEBHOOK_FAILING_DAYS_MAX}) then 'failing' end
      from attempt a
      where e.id = a.endpoint_id and e.disabled_at is null
        and (e.failing_since is null or ${failure === 'gone'}
             or e.failing_since < now() - make_interval(days => ${WEBHOOK_FAILING_DAYS_MAX}))
      returning e.disabled_at
    ), disabled as (
      select from failing where disabled_at is not null
    )
    ${insertAuditEntry(DELIVERY, disabling, 'disabled')}`);
}

/** Ends deliveries that are not to be tried again, without an attempt. */
export async function failDeliveries(em: Em, ids: readonly string[], failure: WebhookFailure): Promise<void> {
  await fail(em, [[...ids], failure]);
}

const fail = prepare(
  'fail-webhook-deliveries',
  `update webhook_delivery set state = 'failed', failure = $2, next_attempt_at = null
   where id = any ($1) and state = 'pending'`,
);
