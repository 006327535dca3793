// The pool of database connections as operators see it.
import type { Database } from './database.ts';

export interface PoolMetrics {
  open: number;
  idle: number;
  /** Requests for a connection that wait for one. */
  waiting: number;
  max: number;
}

/** The part of the driver's pool that is read. */
export interface PoolLike {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

const pools = new WeakMap<Database, { max: number; pool: PoolLike | undefined }>();

/** Called by openDatabase. The driver's pool exists from the first connection on. */
export function registerPool(database: Database, source: { max: number; pool: PoolLike | undefined }): void {
  pools.set(database, source);
}

export function readPoolMetrics(database: Database): PoolMetrics {
  const { max, pool } = pools.get(database) ?? { max: 0, pool: undefined };
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
