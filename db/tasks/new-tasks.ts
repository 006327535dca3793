// How tasks enter the queue: as new rows, or once more after a failure.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { PriceSnapshot } from '../../domain/pricing.ts';
import type { TaskMode } from '../../domain/tasks.ts';
import { TaskEntity, type Task } from '../entities/tasks.ts';
import { readMicroCredits, storePrice } from '../columns.ts';
import { lockUntilEnd } from '../advisory-lock.ts';
import type { Em } from '../database.ts';
import type { Order } from '../../domain/orders/order.ts';

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
  /** The request as the adapter needs it, and the prompt for its owner: encrypted. */
  sealed: { secretKeyId: string; prompt: Uint8Array; body: Uint8Array };
}

export type CreateRefusal =
  | { kind: 'insufficient_credits'; available: MicroCredits }
  | { kind: 'key_quota_exceeded' }
  | { kind: 'daily_budget_exceeded' }
  | { kind: 'queue_full' }
  | { kind: 'account_disabled' };

/**
 * Writes the row, its encrypted request and its first event, if the balance and the key's limits cover the
 * estimate beside everything that is reserved, and queued but not reserved yet. Nothing is set aside here:
 * `reserve` decides later, and refuses when the credits have been spent in between.
 */
export async function createTask(
  em: Em,
  task: NewTask,
  waitingTasksMax: number,
): Promise<Task | CreateRefusal> {
  return em.transactional(async (tx) => {
    // Tasks of one user enter the queue one after the other, so that each statement below counts those before
    // it. The lock is not the account's row, which settlements need.
    await lockUntilEnd(tx, 'queue', task.userId);
    if (await insertTask(tx, task, waitingTasksMax)) return tx.findOneOrFail(TaskEntity, { id: task.id });
    return explainUncreated(tx, task);
  });
}

async function insertTask(tx: Em, task: NewTask, waitingTasksMax: number): Promise<boolean> {
  const rows = await tx.execute<{ id: string }[]>(sql`
    with created as (
      insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, ordered, price,
                        credits_estimate, request_payload)
      select ${task.id}, a.user_id, ${task.keyId}, ${task.mode}, ${task.model}, ${task.family}, ${task.adapter},
             ${task.upstreamModel}, ${JSON.stringify(task.ordered)}::jsonb,
             ${JSON.stringify(storePrice(task.price))}::jsonb, ${task.creditsEstimate},
             ${JSON.stringify(task.requestPayload)}::jsonb
      from account a left join api_key k on k.id = ${task.keyId}
      where a.user_id = ${task.userId} and a.frozen_at is null and ${uncommittedCredits} >= ${task.creditsEstimate}
        and ${fitsQuota(task.creditsEstimate)} and ${fitsBudget(task.creditsEstimate)}
        and (select count(*) from task w where w.user_id = a.user_id and w.status = 'queued') < ${waitingTasksMax}
      returning id
    ), kept as (
      insert into task_request (task_id, secret_key_id, prompt, body)
      select id, ${task.sealed.secretKeyId}, ${task.sealed.prompt}::bytea, ${task.sealed.body}::bytea from created
    ), logged as (
      insert into task_event (task_id, attempt, event) select id, 1, 'created' from created
    )
    select id from created`);
  return rows.length > 0;
}

/** Estimates of queued tasks without a reservation. `a` is the account's row, `k` the key's or null. */
const uncommittedEstimates = sql`
  (select coalesce(sum(q.credits_estimate), 0) from task q
   where q.user_id = a.user_id and q.status = 'queued' and q.admitted_at is null)`;
const uncommittedEstimatesOfKey = sql`
  (select coalesce(sum(q.credits_estimate), 0) from task q
   where q.user_id = a.user_id and q.key_id = k.id and q.status = 'queued' and q.admitted_at is null)`;
/** Credits that are neither reserved nor needed by a queued task. */
const uncommittedCredits = sql`a.balance - a.reserved - ${uncommittedEstimates}`;

/** True for a key without a quota. */
function fitsQuota(amount: MicroCredits) {
  return sql`coalesce(k.used + k.reserved + ${uncommittedEstimatesOfKey} + ${amount} <= k.quota, true)`;
}

/** True for a key without a daily budget. */
function fitsBudget(amount: MicroCredits) {
  const spentToday = sql`case when k.day = (now() at time zone 'utc')::date then k.day_used + k.day_reserved else 0 end`;
  return sql`coalesce(${spentToday} + ${uncommittedEstimatesOfKey} + ${amount} <= k.daily_budget, true)`;
}

async function explainUncreated(
  em: Em,
  { userId, keyId, creditsEstimate }: Pick<NewTask, 'userId' | 'keyId' | 'creditsEstimate'>,
): Promise<CreateRefusal> {
  const [row] = await em.execute<
    { frozen: boolean; available: string; quota: boolean; budget: boolean }[]
  >(sql`
    select a.frozen_at is not null as frozen, greatest(${uncommittedCredits}, 0) as available,
           ${fitsQuota(creditsEstimate)} as quota, ${fitsBudget(creditsEstimate)} as budget
    from account a left join api_key k on k.id = ${keyId} where a.user_id = ${userId}`);
  if (!row || row.frozen) return { kind: 'account_disabled' };
  if (!row.quota) return { kind: 'key_quota_exceeded' };
  if (!row.budget) return { kind: 'daily_budget_exceeded' };
  const available = readMicroCredits(row.available);
  return available < creditsEstimate ? { kind: 'insufficient_credits', available } : { kind: 'queue_full' };
}

/** What a retry takes from today's catalogue. */
export type RenewedTask = Pick<
  NewTask,
  'family' | 'adapter' | 'upstreamModel' | 'ordered' | 'price' | 'creditsEstimate'
>;

export type RetryRefusal = CreateRefusal | { kind: 'not_retryable' };

/**
 * Puts a failed task back into the queue as its next attempt, with a new price and estimate. Retries come
 * from the console, so the new attempt belongs to no key.
 */
export async function retryTask(
  em: Em,
  task: Task,
  renewed: RenewedTask,
  waitingTasksMax: number,
): Promise<Task | RetryRefusal> {
  return em.transactional(async (tx) => {
    await lockUntilEnd(tx, 'queue', task.userId);
    const isRetried = await requeueTask(tx, task, renewed, waitingTasksMax);
    if (isRetried) return tx.findOneOrFail(TaskEntity, { id: task.id }, { refresh: true });
    return explainUnretried(tx, task, renewed.creditsEstimate);
  });
}

async function requeueTask(
  tx: Em,
  task: Task,
  renewed: RenewedTask,
  waitingTasksMax: number,
): Promise<boolean> {
  const rows = await tx.execute<{ id: string }[]>(sql`
    with retried as (
      update task t
      set status = 'queued', attempt = t.attempt + 1, key_id = null, progress = 0, price = ${JSON.stringify(storePrice(renewed.price))}::jsonb,
          ordered = ${JSON.stringify(renewed.ordered)}::jsonb, family = ${renewed.family}, adapter = ${renewed.adapter},
          upstream_model = ${renewed.upstreamModel}, credits_estimate = ${renewed.creditsEstimate}, error_code = null, error_message = null, upstream_task_id = null,
          upstream_request_id = null, admitted_at = null, started_at = null, completed_at = null,
          cancel_requested_at = null, swept_at = null, updated_at = now()
      from account a
      where t.id = ${task.id} and t.status = 'failed' and t.attempt = ${task.attempt} and a.user_id = t.user_id
        and a.frozen_at is null and ${uncommittedCredits} >= ${renewed.creditsEstimate}
        and exists (select 1 from task_request q where q.task_id = t.id and q.body is not null)
        and (select count(*) from task w where w.user_id = a.user_id and w.status = 'queued') < ${waitingTasksMax}
      returning t.id, t.attempt
    )
    insert into task_event (task_id, attempt, event) select id, attempt, 'retried' from retried
    returning task_id as id`);
  return rows.length > 0;
}

async function explainUnretried(em: Em, task: Task, creditsEstimate: MicroCredits): Promise<RetryRefusal> {
  const [row] = await em.execute<{ failed: boolean; kept: boolean }[]>(sql`
    select t.status = 'failed' and t.attempt = ${task.attempt} as failed, q.body is not null as kept
    from task t join task_request q on q.task_id = t.id where t.id = ${task.id}`);
  if (!row?.failed || !row.kept) return { kind: 'not_retryable' };
  return explainUncreated(em, { userId: task.userId, keyId: null, creditsEstimate });
}
