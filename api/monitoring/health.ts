// The internal listener of the API: its readiness, and its metrics.
import type { Server } from 'node:http';
import { isSchemaCurrent } from '../../db/probe.ts';
import { answerWithin, createInternalListener, type Readiness } from '../../runtime/listener.ts';
import { addMetrics } from './metrics.ts';
import type { Database } from '../../db/database.ts';
import type { Services } from '../services.ts';

const DATABASE_WAIT_MS = 500;
const ENGINE_WAIT_MS = 500;

/**
 * The database decides. Reads cost nothing of the engine, and without Redis the limits are decided otherwise: a part
 * that is away makes the gateway degraded, not unready. `probe` is what asks the database.
 */
export function createHealthServer(services: Services, probe: Database, isStopping: () => boolean): Server {
  addMetrics(services, probe);
  return createInternalListener({
    registry: services.metrics.registry,
    checkReadiness: () => checkReadiness(services, probe, isStopping),
  });
}

async function checkReadiness(
  { taskWorkflows: engine, limits }: Services,
  probe: Database,
  isStopping: () => boolean,
): Promise<Readiness> {
  const [isCurrent, isEngineThere] = await Promise.all([
    answerWithin(DATABASE_WAIT_MS, isSchemaCurrent(probe)),
    engine.isReachable(ENGINE_WAIT_MS),
  ]);
  return {
    isReady: isCurrent === true && !isStopping(),
    parts: {
      database: isCurrent === null ? 'down' : isCurrent ? 'ok' : 'outdated',
      temporal: isEngineThere ? 'ok' : 'down',
      redis: limits.redis(),
      ...(isStopping() ? { process: 'stopping' } : {}),
    },
  };
}
