// Metrics of every process of the product: memory, event loop, database connections, password hashing.
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** Where the figures come from; each is read at every scrape. */
export interface ProcessMetricSources {
  /** `open` counts idle connections too; `waiting` is the requests for a connection that wait for one. */
  readPool: () => { open: number; idle: number; waiting: number; max: number };
  countPasswordsWaiting: () => number;
}

/**
 * Adds the metrics to the registry; the delay of the event loop is `nodejs_eventloop_lag_*` of prom-client.
 */
export function addProcessMetrics(
  registry: Registry,
  { readPool, countPasswordsWaiting }: ProcessMetricSources,
): void {
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const connections: Gauge<'state'> = new Gauge({
    name: 'svc_database_pool_connections',
    help: 'Connections to the database, by whether they are in use',
    labelNames: ['state'],
    registers,
    collect: () => {
      const { open, idle } = readPool();
      connections.set({ state: 'idle' }, idle);
      connections.set({ state: 'used' }, open - idle);
    },
  });
  const addGauge = (name: string, help: string, read: () => number): void => {
    const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) });
  };
  addGauge('svc_database_pool_connections_max', 'The most there may be', () => readPool().max);
  addGauge('svc_database_pool_waiters', 'Who waits for one', () => readPool().waiting);
  addGauge('svc_password_hashes_waiting', 'Passwords that wait to be hashed', countPasswordsWaiting);
}
