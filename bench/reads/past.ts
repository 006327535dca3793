// Makes users with a long past, day after day as it would have come, and carries its sums forward with it.
import { MikroORM } from '@mikro-orm/postgresql';
import { forkEm, type Database, type Em } from '../../db/database.ts';
import { SqlFunctionEntity } from '../../db/entities/sql-functions.ts';
import { createSession } from '../../db/identity/sessions.ts';
import { insertUser } from '../../db/identity/users.ts';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { addEnds, addTransfers } from '../../db/usage/rollup.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import type { BenchSystem } from '../system.ts';
import { addHistory, prepareHistory, type PastUser } from './history.ts';
import type { Question } from './questions.ts';

/** Tasks and calls, each, that one statement adds. */
const PER_STATEMENT = 4_000;
const DAY_MS = 86_400_000;
/** The product's own step (`activities/usage-rollup.ts`) grows to this, too. */
const CARRYING_STEP_MS = DAY_MS;
const STATEMENT_LIMIT_MS = 600_000;

export interface Past {
  /** The one with the tenth of everything. */
  user: PastUser;
  /** How long it took to carry all sums forward. */
  carryingMs: number;
}

/**
 * Makes as many tasks and as many calls. The worker stands still meanwhile: its sweeper would carry sums
 * forward past what has not been made yet.
 */
export async function makePast(
  system: BenchSystem,
  database: Database,
  { tasks, otherUsers, days }: { tasks: number; otherUsers: number; days: number },
): Promise<Past> {
  const beganAt = performance.now();
  const to = new Date();
  const from = new Date(to.getTime() - days * DAY_MS);
  const users: PastUser[] = [];
  while (users.length <= otherUsers) users.push(await createPastUser(system, database));
  const [user] = users;
  if (!user) throw new Error('the bench has no user');
  const worker = system.pidOf('worker');
  if (worker !== null) process.kill(worker, 'SIGSTOP');
  const patient = openPatient(system.databaseUrl);
  let carryingMs = 0;
  try {
    await beginSums(patient, from);
    await prepareHistory(forkEm(patient), users, new Date(from.getTime() - DAY_MS));
    const aDay = Math.ceil(tasks / days);
    for (let done = 0; done < tasks;) {
      const last = Math.min(done + PER_STATEMENT, tasks);
      await addHistory(forkEm(patient), users.length, { first: done + 1, last, count: tasks, from, to });
      const isNextDay = Math.floor(last / aDay) > Math.floor(done / aDay);
      done = last;
      if (!isNextDay && done < tasks) continue;
      const madeUntil = new Date(from.getTime() + ((to.getTime() - from.getTime()) * done) / tasks + 1);
      carryingMs += await carryForward(patient, madeUntil);
    }
    await forkEm(patient).execute('vacuum (analyze)'); // what autovacuum does in the course of such a time
  } finally {
    await patient.close();
    if (worker !== null) process.kill(worker, 'SIGCONT');
  }
  console.log(`made ${tasks} tasks and calls in ${((performance.now() - beganAt) / 1000).toFixed(0)} s`);
  return { user, carryingMs };
}

async function createPastUser(system: BenchSystem, database: Database): Promise<PastUser> {
  const em = forkEm(database);
  const email = `bench-${crypto.randomUUID()}@example.com`;
  const userId = await insertUser(em, { email, passwordHash: 'none', permissions: [] });
  if (userId === null) throw new Error('an account of the bench could not be created');
  const { id: common } = await createApiKey(em, system.secrets, { userId, name: 'Common' });
  const { id: rare } = await createApiKey(em, system.secrets, { userId, name: 'Rare' });
  return { userId, keyIds: [common, rare] };
}

export type Tokens = Readonly<Record<Question['as'], string>>;

/** Sessions of the user and of an administrator. */
export async function createTokens(
  system: BenchSystem,
  database: Database,
  { userId }: PastUser,
): Promise<Tokens> {
  const em = forkEm(database);
  const admin = { email: 'chief@example.com', passwordHash: 'none', permissions: [...PERMISSIONS] };
  const administratorId = await insertUser(em, admin);
  if (administratorId === null) throw new Error('the administrator of the bench could not be created');
  return {
    user: await createSession(em, system.secrets, userId),
    administrator: await createSession(em, system.secrets, administratorId),
  };
}

/** The sums of the system's own sweeper, which began before the history, begin anew with it. */
async function beginSums(database: Database, from: Date): Promise<void> {
  await forkEm(database).transactional(async (tx: Em) => {
    await tx.execute('update usage_watermark set until = ?', [from]);
    await tx.execute('truncate usage_rollup, usage_day, usage_mark');
  });
}

/** Carries all sums forward up to `horizon`, and answers how long it took. */
async function carryForward(database: Database, horizon: Date): Promise<number> {
  const beganAt = performance.now();
  for (let after: string | null = ''; after !== null;) after = await addTransfers(forkEm(database), after);
  for (let until = new Date(0); until < horizon;)
    ({ until } = await addEnds(forkEm(database), horizon, CARRYING_STEP_MS));
  return performance.now() - beganAt;
}

/** A connection whose statements may take as long as a busy machine needs. */
function openPatient(url: string): Database {
  const driverOptions = { query_timeout: STATEMENT_LIMIT_MS };
  return new MikroORM({
    clientUrl: url,
    entities: [SqlFunctionEntity],
    pool: { min: 1, max: 1 },
    driverOptions,
  });
}
