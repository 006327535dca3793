// The driver's pool of database connections: for prepared statements, and as operators see it.
import type { Database, Em } from './database.ts';

export interface PoolMetrics {
  open: number;
  idle: number;
  /** Requests for a connection that wait for one. */
  waiting: number;
  max: number;
}

/** The part of the driver's pool that is used. */
export interface DriverPool {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
  connect(): Promise<{ release(): void }>;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- rows by statement
  query<Row>(statement: { name: string; text: string; values: readonly unknown[] }): Promise<{ rows: Row[] }>;
}

interface PoolSource {
  max: number;
  pool: DriverPool | undefined;
}

const pools = new WeakMap<object, PoolSource>();

/** Called by openDatabase. The driver's pool exists from the first connection on. */
export function registerPool(database: Database, source: PoolSource): void {
  pools.set(database.em.getDriver(), source);
}

/** The pool behind `em`; its first use opens it. */
export async function driverPoolOf(em: Em): Promise<DriverPool> {
  const source = pools.get(em.getDriver());
  if (source && !source.pool) await em.getConnection().ensureConnection();
  if (!source?.pool) throw new Error('the database was not opened by openDatabase');
  return source.pool;
}

/**
 * Opens all connections that there may be, so that no burst waits for a new one, which is slow for its first
 * statements, too. Never throws: what cannot be opened now is opened when it is needed.
 */
export async function openConnections(database: Database): Promise<void> {
  const pool = await driverPoolOf(database.em).catch(() => null);
  if (!pool) return;
  const { max } = readPoolMetrics(database);
  const opened = await Promise.allSettled(Array.from({ length: max }, () => pool.connect()));
  for (const connection of opened) if (connection.status === 'fulfilled') connection.value.release();
}

export function readPoolMetrics(database: Database): PoolMetrics {
  const { max, pool } = pools.get(database.em.getDriver()) ?? { max: 0, pool: undefined };
  return {
    open: pool?.totalCount ?? 0,
    idle: pool?.idleCount ?? 0,
    waiting: pool?.waitingCount ?? 0,
    max,
  };
}

/** Whether the next request for a connection has to wait. */
export function isPoolExhausted(database: Database): boolean {
  const { open, idle, max } = readPoolMetrics(database);
  return max > 0 && open >= max && idle === 0;
}
