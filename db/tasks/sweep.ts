// What the sweeper looks for: lost starts, unconfirmed cancellations, orphaned tasks, old requests.
import { sql } from '@mikro-orm/postgresql';
import { firstIdAt } from '../ids.ts';
import { TaskEntity, type Task } from '../entities/tasks.ts';
import { prepare } from '../prepared.ts';
import type { Em } from '../database.ts';
import { readRow } from '../read-row.ts';

const BATCH = 200;
const DAY_MS = 86_400_000;
/** Ids are made by the clocks of other machines. */
const ID_MARGIN_MS = DAY_MS;

/** Queued tasks for which nothing was reserved: their start was lost, or Temporal was down. */
export async function claimUnstarted(em: Em, olderThanSeconds: number): Promise<Task[]> {
  return findClaimed(em, await claimUnreserved(em, [olderThanSeconds]));
}

const claimUnreserved = prepareClaim('claim-unstarted', {
  which: `status = 'queued' and admitted_at is null`,
  first: 'swept_at nulls first, updated_at',
});

/**
 * Open tasks with a reservation whose row has not changed for a while: they run, or their workflow is gone.
 * Those that are not among `runningIds` come first.
 */
export async function claimMaybeOrphaned(
  em: Em,
  olderThanSeconds: number,
  runningIds: readonly string[],
): Promise<Task[]> {
  return findClaimed(em, await claimReserved(em, [olderThanSeconds, runningIds]));
}

const claimReserved = prepareClaim('claim-maybe-orphaned', {
  which: `status in ('queued', 'in_progress') and admitted_at is not null`,
  first: 'id in (select unnest($2::text[])), swept_at nulls first, updated_at',
});

/**
 * Open tasks whose row has not changed for a while, in the order of their ids, after `afterId`: a page of
 * them, whichever sweeper has seen them.
 */
export async function listRestedTasks(em: Em, olderThanSeconds: number, afterId: string): Promise<Task[]> {
  const rows = await em.execute<{ id: string }[]>(sql`
    select id from task
    where status in ('queued', 'in_progress') and id > ${afterId}
      and updated_at < now() - make_interval(secs => ${olderThanSeconds})
    order by id limit ${BATCH}`);
  if (rows.length === 0) return [];
  return em.find(TaskEntity, { id: { $in: rows.map((row) => row.id) } }, { orderBy: { id: 'asc' } });
}

/** Those of the ids that no row has. */
export async function findUnknownTasks(em: Em, ids: readonly string[]): Promise<string[]> {
  return (await selectUnknown(em, [[...ids]])).map(({ id }) => id);
}

const selectUnknown = prepare<{ id: string }>(
  'find-unknown-tasks',
  `select i.id from unnest($1::text[]) i (id) where not exists (select from task t where t.id = i.id)`,
);

/** A file in the storage of results, and the task in whose folder it is. */
export interface ResultFile {
  key: string;
  taskId: string;
}

/**
 * The keys of files that no row names: their task is unknown, or it ended an hour ago, so that no attempt is
 * about to record them.
 */
export async function findUnnamedFiles(em: Em, files: readonly ResultFile[]): Promise<string[]> {
  const values = [files.map(({ key }) => key), files.map(({ taskId }) => taskId)];
  return (await selectUnnamed(em, values)).map(({ key }) => key);
}

const selectUnnamed = prepare<{ key: string }>(
  'find-unnamed-files',
  `select f.key from unnest($1::text[], $2::text[]) f (key, task_id) left join task t on t.id = f.task_id
   where t.id is null or (t.completed_at < now() - interval '1 hour' and not exists (
     select from (select t.outputs union all select s.outputs from submission s where s.task_id = t.id) n (outputs)
     cross join lateral jsonb_array_elements(n.outputs) o
     where f.key in (o ->> 'key', o ->> 'previewKey')))`,
);

/** Ids of open tasks whose owner has asked for the cancellation, those asked first to the front. */
export async function findCancelRequested(em: Em): Promise<string[]> {
  return (await selectCancelRequested(em, [])).map(({ id }) => id);
}

const selectCancelRequested = prepare<{ id: string }>(
  'find-cancel-requested',
  `select id from task where status in ('queued', 'in_progress') and cancel_requested_at is not null
   order by cancel_requested_at limit ${BATCH}`,
);

/**
 * Open tasks whose owner asked for the cancellation some time ago: a page of them, in the order of their ids
 * from the one after `afterId`, and from the first one again after the last.
 */
export async function listUnconfirmedCancels(
  em: Em,
  olderThanSeconds: number,
  afterId: string,
): Promise<Task[]> {
  const rows = await em.execute<Record<string, unknown>[]>(sql`
    select * from task
    where status in ('queued', 'in_progress')
      and cancel_requested_at < now() - make_interval(secs => ${olderThanSeconds})
    order by id <= ${afterId}, id limit ${BATCH}`);
  return rows.map((row) => readRow(em, TaskEntity, row));
}

/**
 * Removes raw requests of tasks that ended long ago, a batch at a time; the prompt for the owner stays.
 * Returns how many. A task that ended before was created before, but for the clocks: by their ids those that
 * are kept are found, and none is read that is too young.
 */
export async function removeOldRequests(em: Em, olderThanDays: number): Promise<number> {
  const young = firstIdAt('task', new Date(Date.now() - olderThanDays * DAY_MS + ID_MARGIN_MS));
  const rows = await em.execute<{ taskId: string }[]>(sql`
    with old as (
      select q.task_id from task_request q join task t on t.id = q.task_id
      where q.body is not null and q.task_id < ${young} and t.completed_at < now() - make_interval(days => ${olderThanDays})
      limit ${BATCH}
    )
    update task_request q set body = null from old where q.task_id = old.task_id
    returning q.task_id as "taskId"`);
  return rows.length;
}

/**
 * Claims tasks whose row has not changed, and which no sweeper has seen, for `$1` seconds: two sweepers never
 * get the same one. `first`: the order in which they are claimed.
 */
function prepareClaim(name: string, { which, first }: { which: string; first: string }) {
  return prepare<{ id: string }>(
    name,
    `with due as (
      select id from task
      where ${which} and updated_at < now() - make_interval(secs => $1)
        and (swept_at is null or swept_at < now() - make_interval(secs => $1))
      order by ${first}
      limit ${BATCH} for update skip locked
    )
    update task t set swept_at = now() from due where t.id = due.id
    returning t.id`,
  );
}

async function findClaimed(em: Em, rows: readonly { id: string }[]): Promise<Task[]> {
  if (rows.length === 0) return [];
  return em.find(TaskEntity, { id: { $in: rows.map((row) => row.id) } }, { refresh: true });
}
