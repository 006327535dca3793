// Tasks that are due for removal, with all that belongs to them but their place in the ledger.
import { sql } from '@mikro-orm/postgresql';
import type { TaskOutput } from '../columns.ts';
import type { Em } from '../database.ts';
import { storedFiles } from '../stored-files.ts';
import { countRemoved } from './progress.ts';

export interface DueTask {
  taskId: string;
  /** What attempts had stored that did not become the task's result. */
  outputs: TaskOutput[];
}

/** Tasks that ended before `before`, are in the sums of usage, and whose results are gone, oldest first. */
export async function listDueTasks(em: Em, before: Date, limit: number): Promise<DueTask[]> {
  return em.execute<DueTask[]>(sql`
    select t.id as "taskId", ${storedFiles()} as outputs from task t
    where t.completed_at < least(${before.toISOString()}::timestamptz, (select until from usage_watermark))
      and t.outputs = '[]' and t.output_text is null
    order by t.completed_at limit ${limit}`);
}

/**
 * Removes tasks with their requests, timelines and submissions. Attempts that were charged or lost something
 * stay: transfers name them. A task that was tried again in the meantime stays as well.
 */
export async function removeTasks(em: Em, taskIds: readonly string[], before: Date): Promise<void> {
  const wanted = JSON.stringify(taskIds);
  await em.transactional(async (tx) => {
    const rows = await tx.execute<{ id: string }[]>(sql`
      select id from task
      where id in (select jsonb_array_elements_text(${wanted}::jsonb))
        and completed_at < ${before.toISOString()}::timestamptz
      order by id for update`);
    const ids = JSON.stringify(rows.map(({ id }) => id));
    const ofThese = sql`task_id in (select jsonb_array_elements_text(${ids}::jsonb))`;
    await tx.execute(sql`delete from submission where ${ofThese}`);
    await tx.execute(sql`delete from upload_use where ${ofThese}`);
    await tx.execute(sql`delete from task_event where ${ofThese}`);
    await tx.execute(sql`delete from task_request where ${ofThese}`);
    await tx.execute(sql`
      select remove_attempts(array(select jsonb_array_elements_text(${ids}::jsonb)), ${before.toISOString()}::timestamptz)`);
    await tx.execute(sql`
      with gone as (
        delete from task where id in (select jsonb_array_elements_text(${ids}::jsonb)) returning id
      )
      ${countRemoved('task', 'gone')}`);
  });
}
