// How tasks enter the queue: as new rows, or once more after a failure.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { PriceSnapshot } from '../../domain/pricing.ts';
import type { TaskMode } from '../../domain/tasks.ts';
import { TaskEntity, type Task } from '../entities/tasks.ts';
import { readMicroCredits, storePrice } from '../columns.ts';
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
  | { kind: 'key_quota_exceeded' | 'daily_budget_exceeded' | 'queue_full' | 'account_disabled' };

/**
 * Earmarks the estimate and writes the task, its encrypted request and its first event, in one statement:
 * all of it, or, where the credits, the key's limits or the queue do not cover it, nothing. The rows that
 * decide are locked (account, then key), so that parallel creations are judged one after the other and none
 * overshoots.
 */
export async function createTask(
  em: Em,
  task: NewTask,
  waitingTasksMax: number,
): Promise<Task | CreateRefusal> {
  const [row] = await em.execute<AdmissionRow[]>(sql`
    with ${earmark({ userId: sql`${task.userId}`, keyId: task.keyId, amount: task.creditsEstimate, waitingTasksMax })},
    created as (
      insert into task (id, user_id, key_id, mode, model, family, adapter, upstream_model, ordered, price,
                        credits_estimate, request_payload)
      select ${task.id}, v.user_id, ${task.keyId}, ${task.mode}, ${task.model}, ${task.family}, ${task.adapter},
             ${task.upstreamModel}, ${JSON.stringify(task.ordered)}::jsonb,
             ${JSON.stringify(storePrice(task.price))}::jsonb, ${task.creditsEstimate},
             ${JSON.stringify(task.requestPayload)}::jsonb
      from verdict v where v.word = 'admitted'
      returning *
    ), kept as (
      insert into task_request (task_id, secret_key_id, prompt, body)
      select id, ${task.sealed.secretKeyId}, ${task.sealed.prompt}::bytea, ${task.sealed.body}::bytea from created
    ), logged as (
      insert into task_event (task_id, attempt, event) select id, 1, 'created' from created
    )
    select v.word, v.free, t.* from verdict v left join created t on true`);
  if (!row) throw new Error(`the user of task ${task.id} has no account`);
  return readAdmission(em, row);
}

/** What a retry takes from today's catalogue. */
export type RenewedTask = Pick<
  NewTask,
  'family' | 'adapter' | 'upstreamModel' | 'ordered' | 'price' | 'creditsEstimate'
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
  const owner = sql`(select user_id from wanted)`;
  const [row] = await em.execute<AdmissionRow[]>(sql`
    with wanted as (
      select t.id, t.user_id from task t
      where t.id = ${task.id} and t.status = 'failed' and t.attempt = ${task.attempt}
        and exists (select 1 from task_request q where q.task_id = t.id and q.body is not null)
      for update
    ), ${earmark({ userId: owner, keyId: null, amount: renewed.creditsEstimate, waitingTasksMax })},
    retried as (
      update task t
      set status = 'queued', attempt = t.attempt + 1, key_id = null, progress = 0,
          price = ${JSON.stringify(storePrice(renewed.price))}::jsonb,
          ordered = ${JSON.stringify(renewed.ordered)}::jsonb, family = ${renewed.family},
          adapter = ${renewed.adapter}, upstream_model = ${renewed.upstreamModel},
          credits_estimate = ${renewed.creditsEstimate}, error_code = null, error_message = null,
          upstream_task_id = null, upstream_request_id = null, admitted_at = null, started_at = null,
          completed_at = null, cancel_requested_at = null, swept_at = null, updated_at = now()
      from wanted w cross join verdict v where v.word = 'admitted' and t.id = w.id
      returning t.*
    ), logged as (
      insert into task_event (task_id, attempt, event) select id, attempt, 'retried' from retried
    )
    select v.word, v.free, t.* from verdict v left join retried t on true`);
  return row ? readAdmission(em, row) : { kind: 'not_retryable' };
}

/**
 * The common part of both: locks account and key, judges them in `verdict` (`word`, and `free`: what is
 * neither reserved nor earmarked), and moves the amount to the earmarks of both where the word is
 * 'admitted'. All columns of a constraint are set from the locked row, because PostgreSQL checks
 * constraints on the row as the statement first saw it, before it looks at the newest one.
 */
function earmark(wanted: {
  userId: ReturnType<typeof sql>;
  keyId: string | null;
  amount: MicroCredits;
  waitingTasksMax: number;
}) {
  return sql`
    holder as (
      select a.user_id, a.balance, a.reserved, a.earmarked, a.queued, a.frozen_at,
             a.balance - a.reserved - a.earmarked as free
      from account a where a.user_id = ${wanted.userId} for update
    ), spender as (
      select k.id, k.used, k.reserved, k.earmarked, k.quota, k.daily_budget,
             case when k.day = (now() at time zone 'utc')::date then k.day_used + k.day_reserved else 0 end as today
      from api_key k where k.id = ${wanted.keyId} and exists (select from holder) for update
    ), verdict as (
      select h.user_id, h.free, case
        when h.frozen_at is not null then 'account_disabled'
        when s.used + s.reserved + s.earmarked + ${wanted.amount} > s.quota then 'key_quota_exceeded'
        when s.today + s.earmarked + ${wanted.amount} > s.daily_budget then 'daily_budget_exceeded'
        when h.free < ${wanted.amount} then 'insufficient_credits'
        when h.queued >= ${wanted.waitingTasksMax} then 'queue_full'
        else 'admitted' end as word
      from holder h left join spender s on true
    ), earmarked as (
      update account a
      set balance = h.balance, reserved = h.reserved, earmarked = h.earmarked + ${wanted.amount}, queued = h.queued + 1,
          updated_at = now()
      from verdict v join holder h using (user_id) where v.word = 'admitted' and a.user_id = v.user_id
    ), limited as (
      update api_key k set earmarked = s.earmarked + ${wanted.amount}
      from spender s cross join verdict v where v.word = 'admitted' and k.id = s.id
    )`;
}

/** The verdict beside the columns of the task, which are null unless it was admitted. */
interface AdmissionRow extends Record<string, unknown> {
  word: CreateRefusal['kind'] | 'admitted';
  free: string;
}

function readAdmission(em: Em, { word, free, ...task }: AdmissionRow): Task | CreateRefusal {
  if (word === 'admitted') return em.map(TaskEntity, task);
  if (word !== 'insufficient_credits') return { kind: word };
  return { kind: word, available: readMicroCredits(free) };
}
