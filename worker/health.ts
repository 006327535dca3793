// Whether this worker can do its work.
import { isSchemaCurrent } from '../db/probe.ts';
import { answerWithin, type Readiness } from '../runtime/listener.ts';
import type { TaskWorkflows } from '../workflows/client.ts';
import type { Workers } from './workers.ts';
import type { Database } from '../db/database.ts';

const WAIT_MS = 500;

/** The database decides, and whether the workers take work; an engine that is away will be back. */
export async function checkReadiness({
  workers,
  engine,
  probe,
}: {
  workers: Pick<Workers, 'areRunning'>;
  engine: Pick<TaskWorkflows, 'isReachable'>;
  probe: Database;
}): Promise<Readiness> {
  const [isCurrent, isEngineThere] = await Promise.all([
    answerWithin(WAIT_MS, isSchemaCurrent(probe)),
    engine.isReachable(WAIT_MS),
  ]);
  const isRunning = workers.areRunning();
  return {
    isReady: isCurrent === true && isRunning,
    parts: {
      database: isCurrent === null ? 'down' : isCurrent ? 'ok' : 'outdated',
      temporal: isEngineThere ? 'ok' : 'down',
      worker: isRunning ? 'ok' : 'stopping',
    },
  };
}
