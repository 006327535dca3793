// The task log: reads, and changes of a status as conditional statements. New tasks: new-tasks.ts.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import type { TaskAttempt, TaskMode, TaskStatus } from '../../domain/tasks.ts';
import { TaskEntity, TaskEventEntity, type Task, type TaskEventRow } from '../entities/tasks.ts';
import type { SpenderRefusal } from '../ledger/reservations.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';
import { equals, joinWithAnd, isOnPage, type PageFilters } from '../filters.ts';
import { readRow } from '../read-row.ts';
import { TEXT_BYTES, TEXT_BYTES_MAX } from './text-bytes.ts';

export async function findTask(em: Em, id: string): Promise<Task | null> {
  const [row] = await selectTask(em, [id]);
  return row ? readRow(em, TaskEntity, row) : null;
}

const selectTask = prepare<Record<string, unknown>>('find-task', 'select * from task where id = $1');

/** A task of this user, or null: another user's task and a missing one look the same. */
export async function findOwnTask(em: Em, userId: string, id: string): Promise<Task | null> {
  return em.findOne(TaskEntity, { id, userId }, { refresh: true });
}

/** Tasks of one user, newest first, older than the task `beforeId` if given; at most `limit`. */
export async function listOwnTasks(em: Em, userId: string, filters: TaskFilters): Promise<TaskPage> {
  return findTasks(em, sql`t.user_id = ${userId} and ${matches(filters)}`, filters.limit);
}

export interface TaskFilters extends PageFilters {
  status?: TaskStatus | undefined;
  mode?: TaskMode | undefined;
  model?: string | undefined;
  keyId?: string | undefined;
  errorCode?: string | undefined;
}

/** The condition of a task `t` that the filters ask for. */
export function matches(filters: TaskFilters): RawQueryFragment {
  const { status, mode, model, keyId, errorCode } = filters;
  return joinWithAnd([
    isOnPage({ id: sql`t.id`, createdAt: sql`t.created_at` }, 'task', filters),
    equals(sql`t.status`, status),
    equals(sql`t.mode`, mode),
    equals(sql`t.model`, model),
    equals(sql`t.key_id`, keyId),
    equals(sql`t.error_code`, errorCode),
  ]);
}

export interface TaskPage {
  tasks: Task[];
  /** Whether their prompts and answers are so long that no further task was read. */
  isFull: boolean;
}

/** Tasks `t` that fulfil the condition, newest first: so many, or one at least and fewer if they are long. */
export async function findTasks(em: Em, condition: RawQueryFragment, limit: number): Promise<TaskPage> {
  const rows = await em.execute<(Record<string, unknown> & { read_bytes: string })[]>(sql`
    select * from (
      select t.*, b.bytes as own_bytes, sum(b.bytes) over (order by t.id desc) as read_bytes
      from (select t.* from task t where ${condition} order by t.id desc limit ${limit}) t
      left join task_request q on q.task_id = t.id
      cross join lateral (select ${TEXT_BYTES} as bytes) b
    ) t where t.read_bytes - t.own_bytes < ${TEXT_BYTES_MAX} order by t.id desc`);
  const isFull = Number(rows.at(-1)?.read_bytes ?? 0) >= TEXT_BYTES_MAX;
  return { tasks: rows.map((row) => readRow(em, TaskEntity, row)), isFull };
}

export async function listEvents(em: Em, taskId: string): Promise<TaskEventRow[]> {
  return em.find(TaskEventEntity, { taskId }, { orderBy: { id: 'asc' } });
}

/** Where an attempt stands, or why user or key may not begin it any more. */
export type BeginVerdict =
  | { kind: 'status'; status: TaskStatus | 'missing' }
  | { kind: 'refused'; reason: SpenderRefusal };

/**
 * Begins work if user and key may still spend and fewer than `runningTasksMax` tasks of the same user are in
 * progress: the account counts them, and the slot is taken in the statement that changes the status, so that
 * none can leak. Safe to repeat. Answers the status the attempt has afterwards; 'queued': no slot is free.
 */
export async function beginTask(
  em: Em,
  { taskId, attempt }: TaskAttempt,
  runningTasksMax: number,
): Promise<BeginVerdict> {
  const [begun] = await begin(em, [taskId, attempt, runningTasksMax]);
  if (begun?.refusal) return { kind: 'refused', reason: begun.refusal };
  return { kind: 'status', status: begun?.status ?? 'missing' };
}

const begin = prepare<{ status: TaskStatus | null; refusal: SpenderRefusal | null }>(
  'begin-task',
  'select status, refusal from begin_task($1, $2, $3)',
);

/**
 * Writes the progress of those attempts that are still in progress and whose progress rose. A task that is
 * locked at this moment is left out, so that a statement about many of them waits for none.
 */
export async function recordProgress(
  em: Em,
  noted: readonly { task: TaskAttempt; percent: number }[],
): Promise<void> {
  await raiseProgress(em, [
    noted.map(({ task }) => task.taskId),
    noted.map(({ task }) => task.attempt),
    noted.map(({ percent }) => percent),
  ]);
}

const raiseProgress = prepare(
  'record-progress',
  `with risen as (
    select t.id, n.percent
    from unnest($1::text[], $2::integer[], $3::smallint[]) n (task_id, attempt, percent)
    join task t on t.id = n.task_id and t.attempt = n.attempt
    where t.status = 'in_progress' and t.progress < n.percent
    for update of t skip locked
  )
  update task t set progress = r.percent, updated_at = now() from risen r where t.id = r.id`,
);

/**
 * Notes that the owner wants the task to stop. Returns the attempt that is to stop, null when it has already
 * ended: a task that fails meanwhile and is retried is not asked to.
 */
export async function requestCancel(em: Em, userId: string, id: string): Promise<number | null> {
  const [asked] = await em.execute<{ attempt: number }[]>(sql`
    with asked as (
      update task set cancel_requested_at = now(), updated_at = now()
      where id = ${id} and user_id = ${userId} and status in ('queued', 'in_progress') and cancel_requested_at is null
      returning id, attempt
    ), logged as (
      insert into task_event (task_id, attempt, event) select id, attempt, 'cancel_requested' from asked
    )
    select coalesce((select attempt from asked), attempt) as attempt
    from task where id = ${id} and status in ('queued', 'in_progress')`);
  return asked?.attempt ?? null;
}
