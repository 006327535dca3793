// Makes users with a long past: samples that the product made, repeated, with their money and their sums.
import { MikroORM } from '@mikro-orm/postgresql';
import { forkEm, type Database } from '../../db/database.ts';
import { SqlFunctionEntity } from '../../db/entities/sql-functions.ts';
import { createSession } from '../../db/identity/sessions.ts';
import { insertUser } from '../../db/identity/users.ts';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import type { BenchSystem } from '../system.ts';
import { inBulk } from './bulk.ts';
import { checkLedger } from './checked.ts';
import { addHistory, prepareHistory, sealPrompts, type PastUser } from './history.ts';
import type { Question } from './questions.ts';
import { makeSamples } from './samples.ts';
import { makeSums, type Carried } from './sums.ts';

const DAY_MS = 86_400_000;
const STATEMENT_LIMIT_MS = 600_000;

export interface Past {
  /** The one with the tenth of everything. */
  user: PastUser;
  carried: Carried;
}

/**
 * Makes as many tasks and as many calls from samples that the product makes first. The worker stands still
 * while they are repeated: its sweeper would carry sums forward past what has not been made yet.
 */
export async function makePast(
  system: BenchSystem,
  database: Database,
  { tasks, otherUsers, days }: { tasks: number; otherUsers: number; days: number },
): Promise<Past> {
  const lap = startLaps();
  const samples = await makeSamples(system, database);
  const users: PastUser[] = [];
  while (users.length <= otherUsers) users.push(await createPastUser(system, database));
  const [user] = users;
  if (!user) throw new Error('the bench has no user');
  lap('samples and users');
  const to = new Date();
  const from = new Date(to.getTime() - days * DAY_MS);
  const worker = system.pidOf('worker');
  if (worker !== null) process.kill(worker, 'SIGSTOP');
  const patient = openPatient(system.databaseUrl);
  try {
    const em = forkEm(patient);
    const carried = await inBulk(em, async () => {
      await prepareHistory(em, users, new Date(from.getTime() - DAY_MS));
      await addHistory(em, samples, { tasks, users: users.length, from, to });
      lap('rows');
      await sealPrompts(em, system.secrets, user.userId);
      await em.execute('vacuum (analyze)'); // what autovacuum does in the course of such a time
      lap('prompts and statistics');
      const sums = await makeSums(patient, from, new Date());
      await em.execute('vacuum (analyze) usage_rollup, usage_span, usage_comparison, usage_mark');
      lap('sums');
      return sums;
    });
    await checkLedger(database);
    lap('the check of the ledger');
    return { user, carried };
  } finally {
    await patient.close();
    if (worker !== null) process.kill(worker, 'SIGCONT');
  }
}

/** Prints what each part took. */
function startLaps(): (what: string) => void {
  let beganAt = performance.now();
  return (what) => {
    console.log(`made ${what} in ${((performance.now() - beganAt) / 1000).toFixed(0)} s`);
    beganAt = performance.now();
  };
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
