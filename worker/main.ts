// The worker process: opens what activities need, makes sure the sweeper is scheduled, and works until it is told to stop.
import { ConfigError, loadConfig, type Config } from '../config.ts';
import { openDatabase } from '../db/orm.ts';
import { Secrets } from '../db/secrets.ts';
import { createLog, type Log } from '../log.ts';
import { createProviders } from '../providers/registry.ts';
import { createStorage } from '../storage/storage.ts';
import { connectEngine } from '../workflows/client.ts';
import { installRuntime } from './runtime.ts';
import { createWorkers } from './workers.ts';

/** Activities hold a database connection for a moment each, so a few more of them than connections are fine. */
const ACTIVITIES_PER_CONNECTION = 4;

await main();

async function main(): Promise<void> {
  try {
    const config = loadConfig();
    const log = createLog({ process: 'worker', level: config.logLevel });
    await work(config, log);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

async function work(config: Config, log: Log): Promise<void> {
  installRuntime(log);
  const database = openDatabase({ url: config.databaseUrl, connectionsMax: config.databaseConnectionsMax });
  const engine = connectEngine({ ...config.temporal, taskDeadlineSeconds: config.taskDeadlineSeconds });
  const providers = createProviders(config);
  for (const { id, adapter } of config.catalog.models.values())
    if (!providers.get(adapter))
      throw new ConfigError(`SVC_CATALOG: ${id} names an adapter that does not exist: ${adapter}`);
  const workers = await createWorkers({
    temporal: config.temporal,
    activitiesMax: config.databaseConnectionsMax * ACTIVITIES_PER_CONNECTION,
    graceSeconds: config.workerGraceSeconds,
    log,
    dependencies: {
      database,
      secrets: new Secrets(config.keyRing),
      providers,
      storage: createStorage(config.storage),
      engine,
      log,
      runningTasksPerUserMax: config.runningTasksPerUserMax,
      requestKeptDays: config.requestKeptDays,
    },
  });
  await engine.ensureSweepSchedule();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => workers.shutdown());
  log.info({}, 'the worker is running');
  await workers.run();
  await workers.close();
  await engine.close();
  await database.close();
  log.info({}, 'the worker has stopped');
}
