// Creates the internal listener of the API: readiness and metrics.
import type { Server } from 'node:http';
import type { Database } from '../../db/database.ts';
import { countWaitingPasswords } from '../../db/identity/passwords.ts';
import { readPoolMetrics } from '../../db/pool.ts';
import { isSchemaCurrent } from '../../db/probe.ts';
import { createInternalListener } from '../../runtime/listener.ts';
import { addProcessMetrics } from '../../runtime/process-metrics.ts';
import { checkSharedParts, type Readiness } from '../../runtime/readiness.ts';
import type { Services } from '../services.ts';
import { addChatMetrics } from './chat-metrics.ts';
import { addDatabaseMetrics } from './database-metrics.ts';
import { addEventMetrics } from './event-metrics.ts';
import { addLimitMetrics } from './limit-metrics.ts';

/**
 * Creates the listener. `probe` is a database connection of its own, so that readiness never waits behind
 * requests. Without Redis the limits are counted in memory: that makes the gateway degraded, not unready.
 */
export function createHealthServer(services: Services, probe: Database, isStopping: () => boolean): Server {
  const { database, limits } = services;
  const { registry } = services.metrics;
  addProcessMetrics(registry, {
    readPool: () => readPoolMetrics(database),
    countPasswordsWaiting: countWaitingPasswords,
  });
  addLimitMetrics(registry, limits);
  addEventMetrics(registry, services.events.watcher);
  addChatMetrics(registry, services.chat);
  addDatabaseMetrics(registry, probe);
  return createInternalListener({
    registry,
    checkReadiness: () => checkReadiness(services, probe, isStopping),
  });
}

async function checkReadiness(
  { taskWorkflows, limits }: Services,
  probe: Database,
  isStopping: () => boolean,
): Promise<Readiness> {
  const { isReady, parts } = await checkSharedParts({
    isSchemaCurrent: () => isSchemaCurrent(probe),
    isTemporalReachable: (waitMs) => taskWorkflows.isReachable(waitMs),
  });
  return {
    isReady: isReady && !isStopping(),
    parts: { ...parts, redis: limits.redis(), ...(isStopping() ? { process: 'stopping' } : {}) },
  };
}
