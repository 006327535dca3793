// What every process of the product tells of itself: memory, event loop, its pool of database connections.
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { poolMetrics } from '../db/pool.ts';
import { passwordQueue } from '../db/identity/passwords.ts';
import type { Database } from '../db/database.ts';

/** Adds them to the registry. The delay of the event loop is among prom-client's own, `nodejs_eventloop_lag_*`. */
export function addProcessMetrics(registry: Registry, database: Database): void {
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const connections: Gauge<'state'> = new Gauge({
    name: 'svc_database_pool_connections',
    help: 'Connections to the database, by whether they are in use',
    labelNames: ['state'],
    registers,
    collect: () => {
      const { open, idle } = poolMetrics(database);
      connections.set({ state: 'idle' }, idle);
      connections.set({ state: 'used' }, open - idle);
    },
  });
  const figure = (name: string, help: string, read: () => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) });
  };
  figure('svc_database_pool_connections_max', 'The most there may be', () => poolMetrics(database).max);
  figure('svc_database_pool_waiters', 'Who waits for one', () => poolMetrics(database).waiting);
  figure('svc_password_hashes_waiting', 'Passwords that wait to be hashed', () => passwordQueue());
}
