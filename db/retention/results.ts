// Results that are due for removal: hidden first, their files removed by the caller, then forgotten.
import { sql } from '@mikro-orm/postgresql';
import type { TaskOutput } from '../columns.ts';
import type { Em } from '../database.ts';
import { storedFiles } from '../stored-files.ts';
import { countRemoved } from './progress.ts';

export interface DueResult {
  taskId: string;
  /** Those of the result, and what other attempts had stored that did not become it. */
  outputs: TaskOutput[];
}

/**
 * Hides the results of tasks that were completed before `before`, oldest first, and answers their files. A
 * crash afterwards loses nothing: as long as a row names files, it is due again.
 */
export async function hideResults(em: Em, before: Date, limit: number): Promise<DueResult[]> {
  return em.execute<DueResult[]>(sql`
    with due as (
      select id from task
      where status = 'completed' and (outputs <> '[]' or output_text is not null)
        and completed_at < ${before.toISOString()}::timestamptz
      order by completed_at limit ${limit} for update skip locked
    )
    update task t set result_expired_at = coalesce(t.result_expired_at, now()) from due where t.id = due.id
    returning t.id as "taskId", ${storedFiles()} as outputs`);
}

/** Forgets results whose files are gone. What a vendor said it delivered stays: the charge rests on it. */
export async function forgetResults(em: Em, taskIds: readonly string[]): Promise<void> {
  const ids = JSON.stringify(taskIds);
  await em.execute(sql`
    with gone as (
      update task t set outputs = '[]', output_text = null
      where t.id in (select jsonb_array_elements_text(${ids}::jsonb)) and t.result_expired_at is not null
        and (t.outputs <> '[]' or t.output_text is not null)
      returning t.id
    ), forgotten as (
      update submission s set outputs = '[]', output_text = null, results = null, results_secret_key_id = null
      from gone where s.task_id = gone.id
    )
    ${countRemoved('result', 'gone')}`);
}
