// The database as the rest of the code holds it: one per process, and an EntityManager per unit of work.
import type { MikroORM, SqlEntityManager } from '@mikro-orm/postgresql';

export type Database = MikroORM;

export type Em = SqlEntityManager;

/** A fresh EntityManager; never share one between requests or activities. */
export function forkEm(database: Database): Em {
  return database.em.fork();
}
