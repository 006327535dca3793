// Which of the operator's vendor accounts takes new work: the least busy of those that are not cooling down.
// Cooldowns stand in a table: workers share the accounts, and the statement that writes the intent chooses
// one. Chat keeps its own in memory (providers/chat/targets.ts), where a call must not cost a query for them.
import { sql } from '@mikro-orm/postgresql';
import pLimit, { type LimitFunction } from 'p-limit';
import type { CredentialRest } from '../entities/credentials.ts';
import { lockUntilEnd } from '../advisory-lock.ts';
import type { Em } from '../database.ts';

export interface CredentialChoice {
  family: string;
  /** Ids, in order of preference. */
  credentials: readonly string[];
  /** How many jobs one may have at the vendor at once; null: any number. */
  jobsPerCredentialMax: number | null;
}

export type CooldownReason = CredentialRest['reason'];

/**
 * The part of a statement that answers with one row, the `credential` for new work, or with none when every
 * credential has as many jobs as it may have. One in its cooldown is chosen only when all are, so that the
 * end of the trouble is noticed. While work of another user waits for a place, a user who has half of all
 * places gets none; work waits that was refused one within the last minute, which is longer than the pause
 * between tries. Its parameters: $1 the task, $3 the family, $4 the credentials, $5 how many jobs one may
 * have.
 */
export const CHOOSE_CREDENTIAL = `
  select id as credential from (
    select c.id, c.position, coalesce(r.rests_until > now(), false) as is_cooling, r.rests_until, (
      select count(*) from submission s join task t on t.id = s.task_id and t.attempt = s.attempt
      where s.family = $3 and s.credential = c.id and s.state in ('sending', 'accepted')
        and t.status = 'in_progress' and t.id <> $1
    ) as jobs
    from unnest($4::text[]) with ordinality c (id, position)
    left join credential_rest r on r.family = $3 and r.credential = c.id
  ) candidate
  where jobs < $5 and not (
    exists (
      select from submission s join task t on t.id = s.task_id and t.attempt = s.attempt
      where s.family = $3 and s.state = 'not_received' and s.credential is null
        and s.updated_at > now() - interval '1 minute' and t.status = 'in_progress'
        and t.user_id <> (select user_id from task where id = $1)
    ) and 2 * (
      select count(*) from submission s join task t on t.id = s.task_id and t.attempt = s.attempt
      where s.family = $3 and s.credential = any ($4) and s.state in ('sending', 'accepted')
        and t.status = 'in_progress' and t.id <> $1 and t.user_id = (select user_id from task where id = $1)
    ) >= cardinality($4) * $5::numeric
  )
  order by is_cooling, case when is_cooling then rests_until end, jobs, position limit 1`;

/** By family: the queue of this process for its lock. Kept as long as the process lives; families are few. */
const queues = new Map<string, LimitFunction>();

/**
 * Runs `work` in a transaction that excludes others of the family: counting jobs and adding one must not
 * interleave. Those of this process come one after the other and wait without a connection: hundreds of
 * tasks may wait for a place, and each of them asks again and again.
 */
export async function withFamilyLock<Result>(
  em: Em,
  family: string,
  work: (em: Em) => Promise<Result>,
): Promise<Result> {
  const queue = queues.get(family) ?? pLimit(1);
  queues.set(family, queue);
  return queue(() =>
    em.transactional(async (tx) => {
      await lockUntilEnd(tx, 'credentials', family);
      return work(tx);
    }),
  );
}

/** Passes a credential over for a while. Of two cooldowns the longer stands. */
export async function startCooldown(
  em: Em,
  cooldown: { family: string; credential: string; reason: CooldownReason; seconds: number },
): Promise<void> {
  await em.execute(sql`
    insert into credential_rest (family, credential, reason, rests_until)
    values (${cooldown.family}, ${cooldown.credential}, ${cooldown.reason}, now() + make_interval(secs => ${cooldown.seconds}))
    on conflict (family, credential) do update set reason = excluded.reason, rests_until = excluded.rests_until
    where credential_rest.rests_until < excluded.rests_until`);
}

/** Whether at least one of these credentials is not cooling down. */
export async function hasReadyCredential(
  em: Em,
  family: string,
  credentials: readonly string[],
): Promise<boolean> {
  const rows = await em.execute<{ ready: boolean }[]>(sql`
    select exists (
      select from jsonb_array_elements_text(${JSON.stringify(credentials)}::jsonb) c(id)
      where not exists (
        select from credential_rest r where r.family = ${family} and r.credential = c.id and r.rests_until > now())
    ) as ready`);
  return rows[0]?.ready ?? false;
}

export interface CredentialLoad {
  family: string;
  credential: string;
  jobs: number;
  cooldownReason: CooldownReason | null;
}

/** Jobs at vendors and cooldowns, for metrics; credentials without either are not listed. */
export async function listCredentialLoad(em: Em): Promise<CredentialLoad[]> {
  const rows = await em.execute<
    { family: string; credential: string; jobs: string; reason: CooldownReason | null }[]
  >(sql`
    select family, credential, count(task_id) as jobs, max(reason) as reason from (
      select s.family, s.credential, s.task_id, null as reason from submission s
      join task t on t.id = s.task_id and t.attempt = s.attempt and t.status = 'in_progress'
      where s.state in ('sending', 'accepted') and s.credential is not null
      union all
      select family, credential, null, reason from credential_rest where rests_until > now()
    ) load group by family, credential order by family, credential`);
  return rows.map(({ family, credential, jobs, reason }) => {
    return { family, credential, jobs: Number(jobs), cooldownReason: reason };
  });
}
