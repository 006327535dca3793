// The internal listener of the API: its readiness, and its metrics.
import type { Server } from 'node:http';
import { isSchemaCurrent } from '../../db/probe.ts';
import { createInternalListener } from '../../runtime/listener.ts';
import { checkSharedParts, type Readiness } from '../../runtime/readiness.ts';
import { addMetrics } from './metrics.ts';
import type { Database } from '../../db/database.ts';
import type { Services } from '../services.ts';

/**
 * `probe` is the connection that asks the database. Without Redis the limits are counted in memory: that makes the
 * gateway degraded, not unready.
 */
export function createHealthServer(services: Services, probe: Database, isStopping: () => boolean): Server {
  addMetrics(services, probe);
  return createInternalListener({
    registry: services.metrics.registry,
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
