// Whether this worker can do its work.
import type { Database } from '../db/database.ts';
import { isSchemaCurrent } from '../db/probe.ts';
import { checkSharedParts, type Readiness } from '../runtime/readiness.ts';
import type { TaskWorkflows } from '../workflows/client.ts';
import type { Workers } from './workers.ts';

/** Ready while the database answers and all workers take work. */
export async function checkReadiness({
  workers,
  taskWorkflows,
  probe,
}: {
  workers: Pick<Workers, 'areRunning'>;
  taskWorkflows: Pick<TaskWorkflows, 'isReachable'>;
  probe: Database;
}): Promise<Readiness> {
  const { isReady, parts } = await checkSharedParts({
    isSchemaCurrent: () => isSchemaCurrent(probe),
    isTemporalReachable: (waitMs) => taskWorkflows.isReachable(waitMs),
  });
  const isRunning = workers.areRunning();
  return { isReady: isReady && isRunning, parts: { ...parts, worker: isRunning ? 'ok' : 'stopping' } };
}
