// How tasks enter the queue: as new rows, or once more after a failure.
import type { MicroCredits } from '../../domain/credits.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { PriceSnapshot } from '../../domain/pricing.ts';
import type { TaskMode } from '../../domain/tasks.ts';
import { TaskEntity, type Task } from '../entities/tasks.ts';
import { readMicroCredits, storePrice } from '../columns.ts';
import type { ReserveRefusal } from '../ledger/reservations.ts';
import { prepare, storableJson } from '../prepared.ts';
import type { Em } from '../database.ts';
import type { Order } from '../../domain/orders/order.ts';
import { storableText } from '../../domain/storable-text.ts';
import { readRow } from '../read-row.ts';

export interface NewTask {
  id: string;
  userId: string;
  keyId: string | null;
  mode: TaskMode;
  model: string;
  family: string;
  adapter: string;
  upstreamModel: string;
  ordered: Order;
  price: PriceSnapshot;
  creditsEstimate: MicroCredits;
  requestPayload: { [field: string]: JsonValue };
  /** Id of the HTTP request; the charge of the attempt names it. */
  requestId: string;
  /** The request as the adapter needs it, and the prompt for its owner: encrypted. */
  sealed: { secretKeyId: string; prompt: Uint8Array; body: Uint8Array };
}

export type CreateRefusal =
  | { kind: 'insufficient_credits'; available: MicroCredits }
  | { kind: Exclude<ReserveRefusal, 'insufficient_credits'> | 'queue_full' };

/**
 * Earmarks the estimate and writes the task, its encrypted request and its first event, in one statement:
 * all of it, or, where the credits, the key's limits or the queue do not cover it, nothing. `earmark` locks
 * the rows that decide, so that parallel creations are judged one after the other and none overshoots.
 */
export async function createTask(
  em: Em,
  task: NewTask,
  waitingTasksMax: number,
): Promise<Task | CreateRefusal> {
  const { id, userId, keyId, mode, model, family, adapter, upstreamModel, sealed } = task;
  const [row] = await insertTask(em, [
    userId,
    keyId,
    model,
    task.creditsEstimate,
    waitingTasksMax,
    id,
    mode,
    family,
    adapter,
    upstreamModel,
    storableJson(task.ordered),
    storableJson(storePrice(task.price)),
    storableJson(task.requestPayload),
    sealed.secretKeyId,
    sealed.prompt,
    sealed.body,
    storableText(task.requestId),
  ]);
  if (!row) throw new Error(`the user of task ${task.id} has no account`);
  return readAdmission(em, row);
}

const insertTask = prepare<AdmissionRow>(
  'create-task',
  `with verdict as (
    select refusal, free from earmark($1, $2, $3, $4, $5)
  ), created as (
    insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, ordered, price,
                      credits_estimate, request_payload, request_id)
    select $6, $1, $2, $7, $3, $8, $9, $10, $11::jsonb, $12::jsonb, $4, $13::jsonb, $17 from verdict where refusal is null
    returning *
  ), kept as (
    insert into task_request (task_id, secret_key_id, prompt, body) select id, $14, $15, $16 from created
  ), logged as (
    insert into task_event (task_id, attempt, event) select id, 1, 'created' from created
  )
  select v.refusal, v.free, t.* from verdict v left join created t on true`,
);

/** What a retry takes from today's catalogue, and its request. */
export type RenewedTask = Pick<
  NewTask,
  'family' | 'adapter' | 'upstreamModel' | 'ordered' | 'price' | 'creditsEstimate' | 'requestId'
>;

export type RetryRefusal = CreateRefusal | { kind: 'not_retryable' };

/**
 * Puts a failed task back into the queue as its next attempt, with a new price, estimate and earmark. The
 * console asks for it, so no key pays for it.
 */
export async function retryTask(
  em: Em,
  task: Task,
  renewed: RenewedTask,
  waitingTasksMax: number,
): Promise<Task | RetryRefusal> {
  const { family, adapter, upstreamModel, ordered, price, creditsEstimate } = renewed;
  const [row] = await renewTask(em, [
    task.id,
    task.attempt,
    creditsEstimate,
    waitingTasksMax,
    storableJson(storePrice(price)),
    storableJson(ordered),
    family,
    adapter,
    upstreamModel,
    storableText(renewed.requestId),
  ]);
  return row ? readAdmission(em, row) : { kind: 'not_retryable' };
}

const renewTask = prepare<AdmissionRow>(
  'retry-task',
  `with wanted as (
    select t.id, t.user_id, t.model from task t
    where t.id = $1 and t.status = 'failed' and t.attempt = $2 and t.deleted_at is null
      and exists (select 1 from task_request q where q.task_id = t.id and q.body is not null)
    for update
  ), verdict as (
    select w.id, e.refusal, e.free from wanted w, earmark(w.user_id, null, w.model, $3, $4) e
  ), retried as (
    update task t
    set status = 'queued', attempt = t.attempt + 1, key_id = null, progress = 0, price = $5::jsonb,
        ordered = $6::jsonb, family = $7, adapter = $8, upstream_model = $9, credits_estimate = $3,
        request_id = $10, error_code = null, error_message = null, upstream_task_id = null, upstream_request_id = null,
        admitted_at = null, started_at = null, completed_at = null, cancel_requested_at = null, swept_at = null,
        updated_at = now()
    from verdict v where v.refusal is null and t.id = v.id
    returning t.*
  ), logged as (
    insert into task_event (task_id, attempt, event) select id, attempt, 'retried' from retried
  )
  select v.refusal, v.free, t.* from verdict v left join retried t on true`,
);

/** The verdict beside the columns of the task, which are null unless it was admitted. */
interface AdmissionRow extends Record<string, unknown> {
  refusal: CreateRefusal['kind'] | null;
  free: string;
}

function readAdmission(em: Em, { refusal, free, ...task }: AdmissionRow): Task | CreateRefusal {
  if (refusal === null) return readRow(em, TaskEntity, task);
  if (refusal !== 'insufficient_credits') return { kind: refusal };
  return { kind: refusal, available: readMicroCredits(free) };
}
