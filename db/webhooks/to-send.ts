// Deliveries as an attempt needs them: the event, its task as it was then, and the endpoint.
import type { JsonValue } from '../../domain/json.ts';
import type { WebhookDeliveryState, WebhookEventType } from '../../domain/webhooks.ts';
import type { StoredEvidence } from '../columns.ts';
import type { Em } from '../database.ts';
import { TaskEntity, type Task } from '../entities/tasks.ts';
import { prepare } from '../prepared.ts';
import { WebhookEndpointEntity, type WebhookEndpoint } from '../entities/webhooks.ts';
import { readRow } from '../read-row.ts';

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
  ended: EndedTask | null;
  data: { [field: string]: string };
}

export interface EndedTask {
  task: Task;
  evidence: StoredEvidence | null;
}

/**
 * Reads deliveries, in no order. One is missing when it or its event was removed, or its endpoint, with which
 * the delivery goes.
 */
export async function findDeliveriesToSend(em: Em, ids: readonly string[]): Promise<DeliveryToSend[]> {
  const rows = await readDeliveries(em, [ids]);
  const endpointIds = [...new Set(rows.map(({ endpointId }) => endpointId))];
  const found = await em.find(WebhookEndpointEntity, { id: { $in: endpointIds } }, { refresh: true });
  const endpoints = new Map(found.map((endpoint) => [endpoint.id, endpoint]));
  const ended = await readEndedTasks(
    em,
    rows.flatMap(({ hasTask, eventId }) => (hasTask ? [eventId] : [])),
  );
  const gone = rows.filter(({ endpointId }) => !endpoints.has(endpointId)).map(({ id }) => id);
  if (gone.length > 0) await removePending(em, [gone]);
  return rows.flatMap(({ id, state, attempts, endpointId, eventId, type, createdAt, data }) => {
    const endpoint = endpoints.get(endpointId);
    const event = {
      id: eventId,
      type,
      createdAt: new Date(createdAt),
      data: data ?? {},
      ended: ended.get(eventId) ?? null,
    };
    return endpoint ? [{ id, state, attempts, endpoint, event }] : [];
  });
}

interface DeliveryRow {
  id: string;
  state: WebhookDeliveryState;
  attempts: number;
  endpointId: string;
  eventId: string;
  type: WebhookEventType;
  createdAt: string;
  data: { [field: string]: string } | null;
  hasTask: boolean;
}

const readDeliveries = prepare<DeliveryRow>(
  'read-webhook-deliveries',
  `select d.id, d.state, d.attempts, d.endpoint_id as "endpointId", v.id as "eventId", v.type,
          v.created_at as "createdAt", v.data, v.task_id is not null as "hasTask"
   from webhook_delivery d join webhook_event v on v.id = d.event_id where d.id = any ($1)`,
);

const removePending = prepare(
  'remove-webhook-deliveries',
  `delete from webhook_delivery where id = any ($1) and state = 'pending'`,
);

/** The tasks of events as they were then, by event. */
async function readEndedTasks(em: Em, eventIds: readonly string[]): Promise<Map<string, EndedTask>> {
  if (eventIds.length === 0) return new Map();
  const rows = await readTasks(em, [eventIds]);
  return new Map(
    rows.map(({ event_id, evidence, payload, result_gone, ...columns }) => {
      const own = { request_payload: payload ?? {}, result_expired_at: result_gone };
      return [event_id, { task: readRow(em, TaskEntity, { ...columns, ...own }), evidence }];
    }),
  );
}

interface EndedTaskRow {
  event_id: string;
  evidence: StoredEvidence | null;
  payload: { [field: string]: JsonValue } | null;
  result_gone: unknown;
  /** The columns of the task. */
  [column: string]: unknown;
}

const readTasks = prepare<EndedTaskRow>(
  'read-webhook-tasks',
  `select v.id as event_id, s.evidence, t.request_payload as payload, e.*,
          case when t.id is null then now() else t.result_expired_at end as result_gone
   from webhook_event v cross join jsonb_populate_record(null::task, v.task) e
   left join task t on t.id = v.task_id
   left join submission s on s.task_id = e.id and s.attempt = e.attempt
   where v.id = any ($1)`,
);
