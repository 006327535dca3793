// The task log: reads, and changes of a status as conditional statements. New tasks: new-tasks.ts.
import { sql } from '@mikro-orm/postgresql';
import type { TaskAttempt, TaskMode, TaskStatus } from '../../domain/tasks.ts';
import { TaskEntity, TaskEventEntity, type Task, type TaskEventRow } from '../entities/tasks.ts';
import type { Em } from '../database.ts';

export async function findTask(em: Em, id: string): Promise<Task | null> {
  return em.findOne(TaskEntity, { id }, { refresh: true });
}

/** A task of this user, or null: another user's task and a missing one look the same. */
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
 * Begins work if fewer than `runningTasksMax` tasks of the same user are in progress: the account counts
 * them, and the slot is taken in the statement that changes the status, so that none can leak. Safe to
 * repeat. Answers the status the attempt has afterwards; 'queued': no slot is free.
 */
export async function beginTask(
  em: Em,
  task: TaskAttempt,
  runningTasksMax: number,
): Promise<TaskStatus | 'missing'> {
  const [started] = await em.execute<{ id: string }[]>(sql`
    with wanted as (
      select id, attempt, user_id from task
      where id = ${task.taskId} and attempt = ${task.attempt} and status = 'queued' and admitted_at is not null
      for update
    ), slots as (
      select a.user_id, a.queued, a.running from account a where a.user_id = (select user_id from wanted) for update
    ), taken as (
      update account a set queued = s.queued - 1, running = s.running + 1
      from slots s where a.user_id = s.user_id and s.running < ${runningTasksMax}
      returning a.user_id
    ), started as (
      update task t set status = 'in_progress', started_at = now(), updated_at = now()
      from wanted w join taken using (user_id) where t.id = w.id
      returning t.id, t.attempt
    )
    insert into task_event (task_id, attempt, event) select id, attempt, 'started' from started
    returning task_id as id`);
  if (started) return 'in_progress';
  const [row] = await em.execute<{ status: TaskStatus }[]>(sql`
    select status from task where id = ${task.taskId} and attempt = ${task.attempt}`);
  return row?.status ?? 'missing';
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

/**
 * Cancels a task for which nothing was reserved yet, which needs no workflow. Returns false if something was.
 */
export async function cancelUnreserved(em: Em, userId: string, id: string): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(sql`
    with ${closeOpenTask(sql`id = ${id} and user_id = ${userId} and status = 'queued' and admitted_at is null`)},
    cancelled as (
      update task t set status = 'cancelled', error_code = 'task_cancelled', completed_at = now(), updated_at = now()
      from closing l where t.id = l.id
      returning t.id, t.attempt
    )
    insert into task_event (task_id, attempt, event) select id, attempt, 'cancelled' from cancelled
    returning task_id as id`);
  return rows.length > 0;
}

/**
 * The part that every end of a task shares: locks the open task that `which` finds (as `closing`) and its
 * account, and gives back its place in the account's counts, and its earmark where nothing was reserved
 * yet.
 */
export function closeOpenTask(which: ReturnType<typeof sql>) {
  return sql`
    closing as (
      select id, attempt, user_id, key_id, status, case when admitted_at is null then credits_estimate else 0 end as earmark
      from task where ${which} for update
    ), owner as (
      select a.user_id, a.balance, a.reserved, a.earmarked, a.queued, a.running
      from account a where a.user_id = (select user_id from closing) for update
    ), payer as (
      select k.id, k.earmarked from api_key k
      where k.id = (select key_id from closing where earmark > 0) and exists (select from owner) for update
    ), counted_out as (
      update account a
      set balance = o.balance, reserved = o.reserved, earmarked = o.earmarked - l.earmark,
          queued = o.queued - (l.status = 'queued')::int, running = o.running - (l.status = 'in_progress')::int,
          updated_at = now()
      from closing l join owner o using (user_id) where a.user_id = l.user_id
    ), unearmarked as (
      update api_key k set earmarked = p.earmarked - l.earmark from payer p cross join closing l where k.id = p.id
    )`;
}
