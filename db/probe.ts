// Connections for health checks and metrics: an exhausted pool must not make the database look down.
import { MikroORM, sql } from '@mikro-orm/postgresql';
import { areFunctionsInstalled } from './functions.ts';
import { MIGRATIONS } from './open-database.ts';
import type { Database } from './database.ts';

const PROBE_CONNECTIONS_MAX = 2;
const PROBE_CONNECTION_WAIT_MS = 500;

/** Opens the connections. Statements on them are cut off after 1.5 seconds. */
export function openProbe(url: string): Database {
  return new MikroORM({
    clientUrl: url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: PROBE_CONNECTIONS_MAX },
    driverOptions: {
      connectionTimeoutMillis: PROBE_CONNECTION_WAIT_MS,
      query_timeout: 2_000,
      options: '-c lock_timeout=500 -c statement_timeout=1500 -c timezone=UTC',
    },
  });
}

/**
 * Whether every migration and function that this code knows was installed. Throws when the database does not
 * answer.
 */
export async function isSchemaCurrent(probe: Database): Promise<boolean> {
  const em = probe.em.fork();
  const [table] = await em.execute<{ name: string | null }[]>(
    sql`select to_regclass('mikro_orm_migrations')::text as name`,
  );
  if (!table?.name) return false;
  const applied = await em.execute<{ name: string }[]>(sql`select name from mikro_orm_migrations`);
  const names = new Set(applied.map(({ name }) => name));
  return MIGRATIONS.every(({ name }) => names.has(name)) && areFunctionsInstalled(em);
}
