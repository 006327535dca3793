// How often tasks and chat calls failed in a period, by the code of their error.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import { refusalOf, type UsageRefusal } from './refusals.ts';
import { isWithin, type Period } from './sources.ts';

export interface FailureCount {
  code: string;
  tasks: number;
  calls: number;
}

/**
 * Counts what failed, each at the time of its end, as the summary of usage does; most frequent first. Of one
 * user, or of all where `userId` is null. Read from rows: what was removed by age is not in it. Answers why
 * where the database gave up.
 */
export async function countFailures(
  em: Em,
  { userId, ...period }: Period & { userId: string | null },
): Promise<FailureCount[] | UsageRefusal> {
  const own = userId === null ? sql`true` : sql`user_id = ${userId}`;
  const failed = sql`status = 'failed' and error_code is not null and ${own}`;
  const counting = em.execute<FailureCount[]>(sql`
    select code, sum(tasks)::int as tasks, sum(calls)::int as calls from (
      select error_code as code, count(*) as tasks, 0 as calls from task where ${failed} and ${isWithin(sql`completed_at`, period)} group by 1
      union all
      select error_code, 0, count(*) from chat_call where ${failed} and ${isWithin(sql`settled_at`, period)} group by 1
    ) counted group by 1 order by sum(tasks) + sum(calls) desc, 1`);
  return counting.catch(refusalOf);
}
