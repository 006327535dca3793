// What administrators see of vendors: by family and credential, the jobs, the cooldown and the last hour.
import { sql } from '@mikro-orm/postgresql';
import type { Em } from '../database.ts';
import type { CooldownReason } from './credentials.ts';

export interface VendorHealth {
  family: string;
  /** Id of the operator's credential; null for tasks that were not handed over with one. */
  credential: string | null;
  /** Jobs at the vendor at this moment. */
  jobs: number;
  cooldown: { reason: CooldownReason; until: Date } | null;
  /** Of the tasks that ended in the last hour after they were handed over. */
  lastHour: {
    completed: number;
    failed: number;
    /** Seconds from start to end of the completed ones; null without any. */
    seconds: { p50: number; p90: number } | null;
  };
}

interface Row {
  family: string;
  credential: string | null;
  jobs: number;
  reason: CooldownReason | null;
  rests_until: Date | string | null;
  completed: number;
  failed: number;
  p50: number | null;
  p90: number | null;
}

/** Families without jobs, cooldown and tasks in the last hour are not listed. */
export async function readVendorHealth(em: Em): Promise<VendorHealth[]> {
  const rows = await em.execute<Row[]>(sql`
    with jobs as (
      select s.family, s.credential, count(*)::int as jobs from submission s
      join task t on t.id = s.task_id and t.attempt = s.attempt and t.status = 'in_progress'
      where s.state in ('sending', 'accepted') group by s.family, s.credential
    ), resting as (
      select family, credential, reason, rests_until from credential_rest where rests_until > now()
    ), hour as (
      select s.family, s.credential, count(*) filter (where t.status = 'completed')::int as completed,
             count(*) filter (where t.status = 'failed')::int as failed,
             percentile_cont(0.5) within group (order by t.seconds) filter (where t.status = 'completed') as p50,
             percentile_cont(0.9) within group (order by t.seconds) filter (where t.status = 'completed') as p90
      from (
        select id, attempt, status, extract(epoch from completed_at - started_at)::float8 as seconds
        from task where completed_at > now() - interval '1 hour'
      ) t join submission s on s.task_id = t.id and s.attempt = t.attempt
      group by s.family, s.credential
    ), known as (
      select family, credential from jobs union select family, credential from resting
      union select family, credential from hour
    )
    select k.family, k.credential, coalesce(j.jobs, 0) as jobs, r.reason, r.rests_until,
           coalesce(h.completed, 0) as completed, coalesce(h.failed, 0) as failed, h.p50, h.p90
    from known k
    left join jobs j on j.family = k.family and j.credential is not distinct from k.credential
    left join resting r on r.family = k.family and r.credential = k.credential
    left join hour h on h.family = k.family and h.credential is not distinct from k.credential
    where k.family is not null
    order by k.family, k.credential`);
  return rows.map(
    ({ family, credential, jobs, reason, rests_until: until, completed, failed, p50, p90 }) => ({
      family,
      credential,
      jobs,
      cooldown: reason !== null && until !== null ? { reason, until: new Date(until) } : null,
      lastHour: { completed, failed, seconds: p50 !== null && p90 !== null ? { p50, p90 } : null },
    }),
  );
}
