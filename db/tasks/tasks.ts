// The task log: reads, and changes of a status as conditional statements. New tasks: new-tasks.ts.
import { sql } from '@mikro-orm/postgresql';
import type { TaskAttempt, TaskMode, TaskStatus } from '../../domain/tasks.ts';
import { TaskEntity, TaskEventEntity, type Task, type TaskEventRow } from '../entities/tasks.ts';
import { advisoryLock } from '../advisory-lock.ts';
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
 * Begins work if fewer than `runningTasksMax` tasks of the same user are in progress. The lock makes the
 * tasks of a user begin one after the other, so that parallel starts cannot overshoot. Slots are counted from
 * the status, so that none can leak. Safe to repeat. `gone`: the task has ended, or belongs to a later
 * attempt.
 */
export async function beginTask(
  em: Em,
  task: TaskAttempt,
  runningTasksMax: number,
): Promise<'started' | 'waiting' | 'gone'> {
  return em.transactional(async (tx) => {
    await tx.execute(
      sql`select ${advisoryLock('running', sql`user_id`)} from task where id = ${task.taskId}`,
    );
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

/**
 * Cancels a task for which nothing was reserved yet, which needs no workflow. Returns false if something was.
 */
export async function cancelUnreserved(em: Em, userId: string, id: string): Promise<boolean> {
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
