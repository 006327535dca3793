// A fresh database for one test file, on the server that the test run brought up.
import { randomBytes } from 'node:crypto';
import { migrate, openDatabase } from '../../../db/open-database.ts';
import { createProcessRole, processUrl } from '../../../dev/servers/process-role.ts';
import { type Database } from '../../../db/database.ts';

export interface TestDatabase {
  /** Of the user who owns the tables. */
  url: string;
  /** Of the user that processes run as, who owns nothing. */
  processUrl: string;
  /** Opened as the owner. */
  database: Database;
  drop(): Promise<void>;
}

/** Not the name that an installation would have on a server that the environment names. */
const PROCESS_ROLE = 'svc_test_app';

/** Names of migrated databases to copy, by server: some tests start one of their own. */
const models = new Map<string, Promise<string>>();

/**
 * Creates a database with all migrations applied: a copy of one that this process migrates once on each
 * server. On a server that the environment names, where that one would stay behind, each is migrated.
 */
export async function createDatabase(connectionsMax = 16): Promise<TestDatabase> {
  if (process.env['DATABASE_URL']) return createMigrated(connectionsMax);
  const server = urlOf('postgres');
  const model = models.get(server) ?? createModel();
  models.set(server, model);
  return createCopy(await model, connectionsMax);
}

/** Creates a database without tables. */
export function createEmptyDatabase(connectionsMax = 16): Promise<TestDatabase> {
  return createCopy('template1', connectionsMax);
}

async function createMigrated(connectionsMax: number): Promise<TestDatabase> {
  const created = await createEmptyDatabase(connectionsMax);
  await createProcessRole(urlOf('postgres'), PROCESS_ROLE);
  await migrate(created.database, PROCESS_ROLE);
  return created;
}

/** Answers the name of a migrated database that no process is connected to, as a model has to be. */
async function createModel(): Promise<string> {
  const { url, database } = await createMigrated(2);
  await database.close();
  return new URL(url).pathname.slice(1);
}

async function createCopy(model: string, connectionsMax: number): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await onServer(`create database ${name} template ${model}`);
  const url = urlOf(name);
  const database = openDatabase({ url, connectionsMax });
  return {
    url,
    processUrl: processUrl(url, PROCESS_ROLE),
    database,
    drop: async () => {
      await database.close();
      await onServer(`drop database ${name} with (force)`);
    },
  };
}

async function onServer(statement: string): Promise<void> {
  const server = openDatabase({ url: urlOf('postgres'), connectionsMax: 1 });
  try {
    await server.em.fork().execute(statement);
  } finally {
    await server.close();
  }
}

function urlOf(name: string): string {
  const server = process.env['TEST_POSTGRES_URL'];
  if (!server) throw new Error('run the tests with "npm test": it brings up the servers they need');
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
