// Checks the end of a soak: everything has ended, and the ledger agrees with what was accepted and charged.
import { setTimeout as sleep } from 'node:timers/promises';
import { findViolations } from '../../db/ledger/invariants.ts';
import { forkEm, type Database } from '../../db/database.ts';

export interface Ended {
  /** Seconds from the last request until everything had ended; null when it did not end. */
  settledAfterSeconds: number | null;
  completed: number;
  charges: number;
  problems: string[];
}

interface Open {
  reservations: number;
  tasks: number;
}

const LOOK_EVERY_MS = 500;

/** Waits for the end, at most `limitSeconds`, then checks the money and every accepted task. */
export async function checkSettled(
  database: Database,
  accepted: ReadonlySet<string>,
  limitSeconds: number,
): Promise<Ended> {
  const startedAt = Date.now();
  const elapsed = (): number => (Date.now() - startedAt) / 1000;
  let open = await countOpen(database);
  while ((open.reservations > 0 || open.tasks > 0) && elapsed() < limitSeconds) {
    await sleep(LOOK_EVERY_MS);
    open = await countOpen(database);
  }
  const hasSettled = open.reservations === 0 && open.tasks === 0;
  const settledAfterSeconds = hasSettled ? elapsed() : null;
  const problems = hasSettled
    ? []
    : [`after ${limitSeconds} s ${open.tasks} tasks and ${open.reservations} reservations are still open`];
  for (const { rule, subject } of await findViolations(forkEm(database)))
    problems.push(`${rule}: ${subject}`);
  const { completed, charges, lost } = await countTasks(database, accepted);
  if (lost > 0) problems.push(`${lost} tasks were answered with 202 and are not there`);
  if (completed !== charges) problems.push(`${completed} tasks are completed, and ${charges} were charged`);
  return { settledAfterSeconds, completed, charges, problems };
}

async function countOpen(database: Database): Promise<Open> {
  const [open] = await forkEm(database).execute<Open[]>(`
    select (select count(*)::int from task_attempt where state = 'open')
           + (select count(*)::int from chat_call where status = 'open') as reservations,
           (select count(*)::int from task where status in ('queued', 'in_progress')) as tasks`);
  return open ?? { reservations: 0, tasks: 0 };
}

async function countTasks(
  database: Database,
  accepted: ReadonlySet<string>,
): Promise<{ completed: number; charges: number; lost: number }> {
  const [counted] = await forkEm(database).execute<{ completed: number; charges: number; lost: number }[]>(
    `select (select count(*)::int from task where status = 'completed') as completed,
            (select count(*)::int from task_attempt where state = 'charged') as charges,
            (select count(*)::int from jsonb_array_elements_text(?::jsonb) as a (id)
             where not exists (select 1 from task t where t.id = a.id)) as lost`,
    [JSON.stringify([...accepted])],
  );
  return counted ?? { completed: 0, charges: 0, lost: 0 };
}
