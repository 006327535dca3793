// One attempt to deliver: what is sent, the hold on its endpoint while it is written, and what came of it.
import { sql } from '@mikro-orm/postgresql';
import type { JsonValue } from '../../domain/json.ts';
import {
  WEBHOOK_FAILING_DAYS_MAX,
  type WebhookDeliveryState,
  type WebhookEventType,
  type WebhookFailure,
} from '../../domain/webhooks.ts';
import { COMMAND_LINE, insertAuditEntry, type AuditOrigin } from '../audit-log.ts';
import type { StoredEvidence } from '../columns.ts';
import type { Em } from '../database.ts';
import { TaskEntity, type Task } from '../entities/tasks.ts';
import { WebhookEndpointEntity, type WebhookEndpoint } from '../entities/webhooks.ts';
import { storableText } from '../prepared.ts';
import { LOST_AFTER_SECONDS } from './relay.ts';

/** Everything that one attempt needs. */
export interface DeliveryToSend {
  id: string;
  state: WebhookDeliveryState;
  /** Attempts that were made so far. */
  attempts: number;
  endpoint: WebhookEndpoint;
  event: WebhookEventToSend;
}

export interface WebhookEventToSend {
  /** Sent as `webhook-id`. */
  id: string;
  type: WebhookEventType;
  createdAt: Date;
  /** The task as it was at its end, with what its vendor reported; null for other events. */
  ended: { task: Task; evidence: StoredEvidence | null } | null;
  data: { [field: string]: string };
}

/** What came of an attempt. A null failure: it was a success. */
export interface AttemptOutcome {
  failure: WebhookFailure | null;
  status: number | null;
  /** The beginning of the answer. */
  body: string | null;
  ms: number;
  /** Until the next attempt; null when there is none. */
  retryMs: number | null;
}

/** Origin of what the deliveries themselves change. */
const DELIVERY: AuditOrigin = { ...COMMAND_LINE, userAgent: 'webhook delivery' };

/** Null when the delivery or its event was removed, or its endpoint, with which the delivery goes. */
export async function findDeliveryToSend(em: Em, id: string): Promise<DeliveryToSend | null> {
  const [row] = await em.execute<DeliveryRow[]>(sql`
    select d.state, d.attempts, d.endpoint_id, v.id, v.type, v.created_at, v.data, v.task_id is not null as has_task
    from webhook_delivery d join webhook_event v on v.id = d.event_id where d.id = ${id}`);
  const endpoint =
    row && (await em.findOne(WebhookEndpointEntity, { id: row.endpoint_id }, { refresh: true }));
  if (!endpoint) {
    await em.execute(sql`delete from webhook_delivery where id = ${id} and state = 'pending'`);
    return null;
  }
  const { state, attempts, type } = row;
  const ended = row.has_task ? await readEndedTask(em, row.id) : null;
  const createdAt = new Date(row.created_at);
  return {
    id,
    state,
    attempts,
    endpoint,
    event: { id: row.id, type, createdAt, ended, data: row.data ?? {} },
  };
}

interface DeliveryRow {
  state: WebhookDeliveryState;
  attempts: number;
  endpoint_id: string;
  id: string;
  type: WebhookEventType;
  created_at: string;
  data: { [field: string]: string } | null;
  has_task: boolean;
}

async function readEndedTask(em: Em, eventId: string): Promise<WebhookEventToSend['ended']> {
  type Row = { evidence: StoredEvidence | null; payload: { [field: string]: JsonValue } | null };
  const [row] = await em.execute<(Row & { [column: string]: unknown })[]>(sql`
    select s.evidence, t.request_payload as payload, e.*,
           case when t.id is null then now() else t.result_expired_at end as result_gone
    from webhook_event v cross join jsonb_populate_record(null::task, v.task) e
    left join task t on t.id = v.task_id
    left join submission s on s.task_id = e.id and s.attempt = e.attempt
    where v.id = ${eventId}`);
  if (!row) return null;
  const { evidence, payload, result_gone, ...columns } = row;
  return {
    task: em.map(TaskEntity, { ...columns, request_payload: payload ?? {}, result_expired_at: result_gone }),
    evidence,
  };
}

/**
 * Runs `write` while the endpoint cannot be deleted: who deletes it waits, and once it is gone nothing is
 * written. Answers false, without writing, when it is gone or disabled. Other changes do not wait.
 */
export async function whileEndpointExists(
  em: Em,
  endpointId: string,
  write: () => Promise<void>,
): Promise<boolean> {
  return em.transactional(async (tx) => {
    const found = await tx.execute<{ id: string }[]>(sql`
      select id from webhook_endpoint where id = ${endpointId} and disabled_at is null for key share`);
    if (found.length > 0) await write();
    return found.length > 0;
  });
}

/**
 * Writes what came of an attempt, on the delivery and on its endpoint, which it disables after 410 or when
 * nothing succeeded for days. A repeat of a recorded final attempt changes nothing.
 */
export async function recordAttempt(
  em: Em,
  { id, endpoint }: DeliveryToSend,
  { failure, status, body, ms, retryMs }: AttemptOutcome,
): Promise<void> {
  const state = failure === null ? 'delivered' : retryMs === null ? 'failed' : 'pending';
  const nextSeconds = retryMs === null ? null : retryMs / 1000;
  const entry = { targetType: 'webhook', targetId: endpoint.id, userId: endpoint.userId };
  const detail = { reason: failure === 'gone' ? 'gone' : 'failing' };
  const disabling = { action: 'DISABLE_WEBHOOK', ...entry, detail } as const;
  await em.execute(sql`
    with attempt as (
      update webhook_delivery
      set state = ${state}, attempts = attempts + 1, last_attempt_at = now(), failure = ${failure},
          answer_status = ${status}::int, answer_body = ${body === null ? null : storableText(body)},
          answer_ms = ${ms}::int, delivered_at = case when ${failure === null} then now() end,
          next_attempt_at = now() + make_interval(secs => ${nextSeconds}::float8),
          relay_after = now() + make_interval(secs => coalesce(${nextSeconds}::float8, 0) + ${LOST_AFTER_SECONDS})
      where id = ${id} and state = 'pending'
      returning endpoint_id
    ), succeeded as (
      update webhook_endpoint e set failing_since = null, last_success_at = now() from attempt a
      where e.id = a.endpoint_id and ${failure === null}
        and (e.failing_since is not null or coalesce(e.last_success_at < now() - interval '1 minute', true))
    ), failing as (
      update webhook_endpoint e
      set failing_since = coalesce(e.failing_since, now()),
          disabled_at = case when ${failure === 'gone'}
            or e.failing_since < now() - make_interval(days => ${WEBHOOK_FAILING_DAYS_MAX}) then now() end,
          disabled_reason = case when ${failure === 'gone'} then 'gone'
            when e.failing_since < now() - make_interval(days => ${WEBHOOK_FAILING_DAYS_MAX}) then 'failing' end
      from attempt a
      where e.id = a.endpoint_id and ${failure !== null} and e.disabled_at is null
        and (e.failing_since is null or ${failure === 'gone'}
             or e.failing_since < now() - make_interval(days => ${WEBHOOK_FAILING_DAYS_MAX}))
      returning e.disabled_at
    ), disabled as (
      select from failing where disabled_at is not null
    )
    ${insertAuditEntry(DELIVERY, disabling, 'disabled')}`);
}

/** Ends a delivery that is not to be tried again, without an attempt. */
export async function failDelivery(em: Em, id: string, failure: WebhookFailure): Promise<void> {
  await em.execute(sql`
    update webhook_delivery set state = 'failed', failure = ${failure}, next_attempt_at = null
    where id = ${id} and state = 'pending'`);
}
