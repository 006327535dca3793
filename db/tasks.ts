// The task log: creating tasks, reading them, and every change of their status as one conditional statement.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../domain/credits.ts';
import type { JsonValue } from '../domain/json.ts';
import type { Order } from '../domain/orders.ts';
import type { PriceSnapshot } from '../domain/pricing.ts';
import type { TaskAttempt, TaskMode, TaskStatus } from '../domain/tasks.ts';
import { TaskEntity, TaskEventEntity, type Task, type TaskEventRow } from './entities/tasks.ts';
import type { Em } from './orm.ts';
import { readMicroCredits, storePrice } from './stored.ts';

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
 * Writes the row, its encrypted request and its first event, if the balance and the key's limits cover the estimate
 * at this moment. Nothing is set aside yet: `reserve` decides, and may find that somebody else was faster.
 */
export async function createTask(
  em: Em,
  task: NewTask,
  waitingTasksMax: number,
): Promise<Task | CreateRefusal> {
  const [created] = await em.execute<{ id: string }[]>(sql`
    with created as (
      insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, ordered, price,
                        credits_estimate, request_payload)
      select ${task.id}, a.user_id, ${task.keyId}, ${task.mode}, ${task.model}, ${task.family}, ${task.adapter},
             ${task.upstreamModel}, ${JSON.stringify(task.ordered)}::jsonb,
             ${JSON.stringify(storePrice(task.price))}::jsonb, ${task.creditsEstimate},
             ${JSON.stringify(task.requestPayload)}::jsonb
      from account a left join api_key k on k.id = ${task.keyId}
      where a.user_id = ${task.userId} and a.frozen_at is null and a.balance - a.reserved >= ${task.creditsEstimate}
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
  if (created) return em.findOneOrFail(TaskEntity, { id: task.id });
  return explainUncreated(em, task);
}

/** A key without a quota, or without a budget, fits always. `k` is the key's row, or nothing. */
function fitsQuota(amount: MicroCredits) {
  return sql`coalesce(k.used + k.reserved + ${amount} <= k.quota, true)`;
}

function fitsBudget(amount: MicroCredits) {
  const spentToday = sql`case when k.day = (now() at time zone 'utc')::date then k.day_used + k.day_reserved else 0 end`;
  return sql`coalesce(${spentToday} + ${amount} <= k.daily_budget, true)`;
}

async function explainUncreated(
  em: Em,
  { userId, keyId, creditsEstimate }: Pick<NewTask, 'userId' | 'keyId' | 'creditsEstimate'>,
): Promise<CreateRefusal> {
  const [row] = await em.execute<
    { frozen: boolean; available: string; quota: boolean; budget: boolean }[]
  >(sql`
    select a.frozen_at is not null as frozen, a.balance - a.reserved as available,
           ${fitsQuota(creditsEstimate)} as quota, ${fitsBudget(creditsEstimate)} as budget
    from account a left join api_key k on k.id = ${keyId} where a.user_id = ${userId}`);
  if (!row || row.frozen) return { kind: 'account_disabled' };
  if (!row.quota) return { kind: 'key_quota_exceeded' };
  if (!row.budget) return { kind: 'daily_budget_exceeded' };
  const available = readMicroCredits(row.available);
  return available < creditsEstimate ? { kind: 'insufficient_credits', available } : { kind: 'queue_full' };
}

export async function findTask(em: Em, id: string): Promise<Task | null> {
  return em.findOne(TaskEntity, { id }, { refresh: true });
}

/** A task of this user, or null: somebody else's task and a missing one look the same. */
export async function findOwnTask(em: Em, userId: string, id: string): Promise<Task | null> {
  return em.findOne(TaskEntity, { id, userId }, { refresh: true });
}

/** Tasks of one user, newest first, older than the task `beforeId` if given; at most `limit`. */
export async function listOwnTasks(
  em: Em,
  userId: string,
  page: { limit: number; beforeId: string | null; status: TaskStatus | null; mode: TaskMode | null },
): Promise<Task[]> {
  const where = {
    userId,
    ...(page.beforeId === null ? {} : { id: { $lt: page.beforeId } }),
    ...(page.status === null ? {} : { status: page.status }),
    ...(page.mode === null ? {} : { mode: page.mode }),
  };
  return em.find(TaskEntity, where, { orderBy: { id: 'desc' }, limit: page.limit });
}

export async function listEvents(em: Em, taskId: string): Promise<TaskEventRow[]> {
  return em.find(TaskEventEntity, { taskId }, { orderBy: { id: 'asc' } });
}

/**
 * Begins work if fewer than `runningTasksMax` tasks of the same user are in progress. The lock makes users' tasks
 * begin one after the other, so that parallel starts cannot overshoot; being in progress is the slot, so that no
 * slot can leak. Safe to repeat.
 */
export async function beginTask(
  em: Em,
  task: TaskAttempt,
  runningTasksMax: number,
): Promise<'started' | 'waiting' | 'gone'> {
  return em.transactional(async (tx) => {
    await tx.execute(sql`
      select pg_advisory_xact_lock(hashtextextended('running:' || user_id, 0)) from task where id = ${task.taskId}`);
    const [started] = await tx.execute<{ id: string }[]>(sql`
      with started as (
        update task t set status = 'in_progress', started_at = now(), updated_at = now()
        where t.id = ${task.taskId} and t.attempt = ${task.attempt} and t.status = 'queued' and t.admitted_at is not null
          and (select count(*) from task r where r.user_id = t.user_id and r.status = 'in_progress') < ${runningTasksMax}
        returning t.id, t.attempt
      )
      insert into task_event (task_id, attempt, event) select id, attempt, 'started' from started
      returning task_id as id`);
    if (started) return 'started';
    const [row] = await tx.execute<{ status: TaskStatus }[]>(sql`
      select status from task where id = ${task.taskId} and attempt = ${task.attempt}`);
    if (row?.status === 'in_progress') return 'started';
    return row?.status === 'queued' ? 'waiting' : 'gone';
  });
}

/** Writes progress if it rose and the attempt is still in progress. */
export async function recordProgress(em: Em, task: TaskAttempt, progress: number): Promise<void> {
  await em.execute(sql`
    update task set progress = ${progress}, updated_at = now()
    where id = ${task.taskId} and attempt = ${task.attempt} and status = 'in_progress' and progress < ${progress}`);
}

/** Notes that the owner wants the task to stop. Returns false when it has already ended. */
export async function requestCancel(em: Em, userId: string, id: string): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(sql`
    with asked as (
      update task set cancel_requested_at = now(), updated_at = now()
      where id = ${id} and user_id = ${userId} and status in ('queued', 'in_progress') and cancel_requested_at is null
      returning id, attempt
    ), logged as (
      insert into task_event (task_id, attempt, event) select id, attempt, 'cancel_requested' from asked
    )
    select id from task where id = ${id} and status in ('queued', 'in_progress')`);
  return rows.length > 0;
}

/** Ends a task for which nothing was reserved yet; no engine is needed for that. Returns false if something was. */
export async function cancelUnadmitted(em: Em, userId: string, id: string): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(sql`
    with cancelled as (
      update task set status = 'cancelled', error_code = 'task_cancelled', completed_at = now(), updated_at = now()
      where id = ${id} and user_id = ${userId} and status = 'queued' and admitted_at is null
      returning id, attempt
    )
    insert into task_event (task_id, attempt, event) select id, attempt, 'cancelled' from cancelled
    returning task_id as id`);
  return rows.length > 0;
}

export type RetryRefusal = CreateRefusal | { kind: 'not_retryable' };

/**
 * Puts a failed task back into the queue as its next attempt, with a new price and estimate. The console asks for
 * it, so no key pays for it.
 */
export async function retryTask(
  em: Em,
  task: Task,
  renewed: Pick<NewTask, 'family' | 'adapter' | 'upstreamModel' | 'ordered' | 'price' | 'creditsEstimate'>,
  waitingTasksMax: number,
): Promise<Task | RetryRefusal> {
  const [retried] = await em.execute<{ id: string }[]>(sql`
    with retried as (
      update task t
      set status = 'queued', attempt = t.attempt + 1, key_id = null, progress = 0, price = ${JSON.stringify(storePrice(renewed.price))}::jsonb,
          ordered = ${JSON.stringify(renewed.ordered)}::jsonb, family = ${renewed.family}, adapter = ${renewed.adapter},
          upstream_model = ${renewed.upstreamModel}, credits_estimate = ${renewed.creditsEstimate}, error_code = null, error_message = null, upstream_task_id = null,
          upstream_request_id = null, admitted_at = null, started_at = null, completed_at = null,
          cancel_requested_at = null, swept_at = null, updated_at = now()
      from account a
      where t.id = ${task.id} and t.status = 'failed' and t.attempt = ${task.attempt} and a.user_id = t.user_id
        and a.frozen_at is null and a.balance - a.reserved >= ${renewed.creditsEstimate}
        and exists (select 1 from task_request q where q.task_id = t.id and q.body is not null)
        and (select count(*) from task w where w.user_id = a.user_id and w.status = 'queued') < ${waitingTasksMax}
      returning t.id, t.attempt
    )
    insert into task_event (task_id, attempt, event) select id, attempt, 'retried' from retried
    returning task_id as id`);
  if (retried) return em.findOneOrFail(TaskEntity, { id: task.id }, { refresh: true });
  return explainUnretried(em, task, renewed.creditsEstimate);
}

async function explainUnretried(em: Em, task: Task, creditsEstimate: MicroCredits): Promise<RetryRefusal> {
  const [row] = await em.execute<{ failed: boolean; kept: boolean }[]>(sql`
    select t.status = 'failed' and t.attempt = ${task.attempt} as failed, q.body is not null as kept
    from task t join task_request q on q.task_id = t.id where t.id = ${task.id}`);
  if (!row?.failed || !row.kept) return { kind: 'not_retryable' };
  return explainUncreated(em, { userId: task.userId, keyId: null, creditsEstimate });
}
