// Checks the end of a soak: everything has ended, and the ledger agrees with what was accepted and charged.
import { setTimeout as sleep } from 'node:timers/promises';
import { findViolations } from '../../db/ledger/invariants.ts';
import { forkEm, type Database } from '../../db/database.ts';
import type { Disturbance } from './faults.ts';
import { findLongestOpen, type Life } from './recovery.ts';
import type { Ordered } from './traffic.ts';

export interface Ended {
  /** Seconds from the last request until everything had ended; null when it did not end. */
  settledAfterSeconds: number | null;
  completed: number;
  charges: number;
  /** Accepted tasks that are not there. */
  lost: number;
  /** Tasks beyond those of the orders, or orders that were given the task of another one. */
  doubled: number;
  violations: number;
  /** The longest time that an accepted task was open while nothing disturbed the system. */
  longestOpenSeconds: number;
  problems: string[];
}

export interface Expected {
  ordered: Ordered;
  /** Users of the soak. */
  userIds: readonly string[];
  disturbances: readonly Disturbance[];
}

interface Counted {
  completed: number;
  charges: number;
  lost: number;
  /** Tasks that the users ordered without a key. */
  made: number;
}

const LOOK_EVERY_MS = 500;
/** Every accepted task is final within a minute of the recovery: the heartbeat of `poll` is shorter. */
const OPEN_SECONDS_MAX = 60;

/** Waits for the end, at most `limitSeconds`, then checks the money and every accepted task. */
export async function checkSettled(
  database: Database,
  { ordered, userIds, disturbances }: Expected,
  limitSeconds: number,
): Promise<Ended> {
  const settledAfterSeconds = await untilSettled(database, limitSeconds);
  const problems =
    settledAfterSeconds === null
      ? [`after ${limitSeconds} s ${JSON.stringify(await countOpen(database))} are still open`]
      : [];
  const violations = await findViolations(forkEm(database));
  for (const { rule, subject } of violations) problems.push(`${rule}: ${subject}`);
  const { completed, charges, lost, made } = await countTasks(database, ordered.accepted, userIds);
  if (lost > 0) problems.push(`${lost} tasks were answered with 202 and are not there`);
  if (completed !== charges) problems.push(`${completed} tasks are completed, and ${charges} were charged`);
  const { accepted, answered, unsure } = ordered;
  const doubled = Math.max(0, made - accepted.size - unsure) + (answered - accepted.size);
  if (doubled > 0)
    problems.push(`${answered} orders, and ${unsure} of unknown outcome, became ${made} tasks`);
  const lives = await readLives(database, accepted);
  const longest = findLongestOpen(lives, disturbances, Date.now());
  const longestOpenSeconds = longest?.seconds ?? 0;
  if (longest !== null && longest.seconds > OPEN_SECONDS_MAX)
    problems.push(`${longest.taskId} was open for ${Math.round(longest.seconds)} s after a recovery`);
  const counts = { completed, charges, lost, doubled, violations: violations.length };
  return { settledAfterSeconds, ...counts, longestOpenSeconds, problems };
}

/** Seconds until nothing was open; null when something is after the limit. */
async function untilSettled(database: Database, limitSeconds: number): Promise<number | null> {
  const startedAt = Date.now();
  const elapsed = (): number => (Date.now() - startedAt) / 1000;
  for (;;) {
    const { reservations, tasks } = await countOpen(database);
    if (reservations === 0 && tasks === 0) return elapsed();
    if (elapsed() > limitSeconds) return null;
    await sleep(LOOK_EVERY_MS);
  }
}

async function countOpen(database: Database): Promise<{ reservations: number; tasks: number }> {
  const [open] = await forkEm(database).execute<{ reservations: number; tasks: number }[]>(`
    select (select count(*)::int from task_attempt where state = 'open')
           + (select count(*)::int from chat_call where status = 'open') as reservations,
           (select count(*)::int from task where status in ('queued', 'in_progress')) as tasks`);
  return open ?? { reservations: 0, tasks: 0 };
}

async function countTasks(
  database: Database,
  accepted: ReadonlySet<string>,
  userIds: readonly string[],
): Promise<Counted> {
  const [counted] = await forkEm(database).execute<Counted[]>(
    `select (select count(*)::int from task where status = 'completed') as completed,
            (select count(*)::int from task_attempt where state = 'charged') as charges,
            (select count(*)::int from task
             where key_id is null and user_id in (select jsonb_array_elements_text(?::jsonb))) as made,
            (select count(*)::int from jsonb_array_elements_text(?::jsonb) as a (id)
             where not exists (select 1 from task t where t.id = a.id)) as lost`,
    [JSON.stringify(userIds), JSON.stringify([...accepted])],
  );
  return counted ?? { completed: 0, charges: 0, lost: 0, made: 0 };
}

/** The attempts of the accepted tasks; each begins with the order, or with the retry. */
async function readLives(database: Database, accepted: ReadonlySet<string>): Promise<Life[]> {
  return forkEm(database).execute<Life[]>(
    `select task_id as "taskId", (extract(epoch from min(at)) * 1000)::float8 as "from",
            (extract(epoch from max(at) filter (where event in ('completed', 'failed', 'cancelled'))) * 1000)::float8
              as until
     from task_event where task_id in (select jsonb_array_elements_text(?::jsonb)) group by task_id, attempt`,
    [JSON.stringify([...accepted])],
  );
}
