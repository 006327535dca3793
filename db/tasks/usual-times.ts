// How long tasks of a model usually take, from start to end, by the last ones that were completed.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';

export interface UsualSeconds {
  p50: number;
  p90: number;
}

/** Tasks of a model that are looked at; its index of the list finds them. */
const RECENT_TASKS = 100;
/** Fewer completions than this say nothing. */
const TASKS_MIN = 3;

/** By model id; a model with too few recent completions is missing. */
export async function readUsualSeconds(
  em: Em,
  models: readonly string[],
): Promise<Map<string, UsualSeconds>> {
  const rows = await em.execute<({ model: string } & UsualSeconds)[]>(sql`
    select m.model, round(s.p50::numeric, 1)::float8 as p50, round(s.p90::numeric, 1)::float8 as p90
    from jsonb_array_elements_text(${JSON.stringify(models)}::jsonb) as m(model)
    cross join lateral (
      select count(*) as tasks,
             percentile_cont(0.5) within group (order by seconds) as p50,
             percentile_cont(0.9) within group (order by seconds) as p90
      from (
        select extract(epoch from r.completed_at - r.started_at) as seconds from (
          select t.status, t.completed_at, t.started_at from task t where t.model = m.model
          order by t.id desc limit ${RECENT_TASKS}
        ) r where r.status = 'completed'
      ) took
    ) s
    where s.tasks >= ${TASKS_MIN}`);
  return new Map(rows.map(({ model, p50, p90 }) => [model, { p50, p90 }]));
}
