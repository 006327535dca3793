// The parts of a gateway, put together from its settings: the same for the process and for tests.
import type { Config } from '../config.ts';
import { LastUses } from '../db/last-uses.ts';
import type { Database } from '../db/orm.ts';
import { Secrets } from '../db/secrets.ts';
import type { Log } from '../log.ts';
import { createStorage } from '../storage/storage.ts';
import { connectEngine } from '../workflows/client.ts';
import { ADMISSION_WAIT_MS, type Gateway } from './gateway.ts';
import { createMemoryCounter } from './limits/counter.ts';
import { createGuessLimiter } from './limits/guess-limiter.ts';

/** Connects to nothing yet. Whoever opened the database closes it; the engine and `lastUses` are the gateway's. */
export function openGateway(config: Config, database: Database, log: Log): Gateway {
  return {
    database,
    secrets: new Secrets(config.keyRing),
    engine: connectEngine({ ...config.temporal, taskDeadlineSeconds: config.taskDeadlineSeconds }),
    storage: createStorage(config.storage),
    catalog: config.catalog,
    lastUses: new LastUses(database, log),
    log,
    guesses: createGuessLimiter(createMemoryCounter),
    publicUrl: () => config.publicUrl,
    production: config.production,
    admissionWaitMs: ADMISSION_WAIT_MS,
    waitingTasksPerUserMax: config.waitingTasksPerUserMax,
    resultUrlSeconds: config.resultUrlSeconds,
  };
}
