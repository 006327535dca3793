// The database as the rest of the code holds it: one per process, and an EntityManager per unit of work.
import type { MikroORM, SqlEntityManager } from '@mikro-orm/postgresql';

export type Database = MikroORM;

export type Em = SqlEntityManager;

/** A fresh EntityManager; never share one between requests or activities. */
export function forkEm(database: Database): Em {
  return database.em.fork();
}

/** Whether the database takes no changes, as a standby does, which may also be behind. */
export async function isReadOnly(em: Em): Promise<boolean> {
  const statement = `select current_setting('transaction_read_only') = 'on' as "isReadOnly"`;
  const [row] = await em.execute<{ isReadOnly: boolean }[]>(statement);
  return row?.isReadOnly === true;
}
