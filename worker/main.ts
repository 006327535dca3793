// The worker process: opens what activities need, ensures the sweep schedule, and works until it is stopped.
import { Registry } from 'prom-client';
import type { WebhookDependencies } from '../activities/dependencies.ts';
import { ConfigError, type Config } from '../config/config.ts';
import { runWithConfig } from '../config/run-with-config.ts';
import { countWaitingPasswords } from '../db/identity/passwords.ts';
import type { Database } from '../db/database.ts';
import { createLossBrake } from '../db/ledger/loss-brake.ts';
import { openDatabase } from '../db/open-database.ts';
import { readPoolMetrics } from '../db/pool.ts';
import { openProbe } from '../db/probe.ts';
import { Secrets } from '../db/secrets.ts';
import { isLoopbackUrl } from '../domain/loopback.ts';
import { WEBHOOK_ATTEMPTS_MAX, WEBHOOK_RETRY_DELAYS_MS } from '../domain/webhooks.ts';
import { createLog, type Log } from '../log.ts';
import { createInternalListener, listen } from '../runtime/listener.ts';
import { addProcessMetrics } from '../runtime/process-metrics.ts';
import { stopOnSignals } from '../runtime/stopping.ts';
import { startTracing } from '../runtime/tracing.ts';
import type { Tracing } from '../runtime/tracing-types.ts';
import { createProviders, type Providers } from '../providers/registry.ts';
import { createStorage } from '../storage/storage.ts';
import { connectTaskWorkflows } from '../workflows/client.ts';
import { checkReadiness } from './health.ts';
import { observeUpstream, observeWebhooks } from './observation.ts';
import { limitGarbage } from './garbage.ts';
import { installRuntime } from './runtime.ts';
import { startWebhookOutbox } from './webhooks.ts';
import { createWorkers } from './workers.ts';

/** Activities hold a database connection only for moments, so there may be more of them than connections. */
const ACTIVITIES_PER_CONNECTION = 4;
/** Time beyond the grace, to cut off what still runs and to close everything. */
const STOP_EXTRA_MS = 15_000;

limitGarbage();
await runWithConfig((config) => work(config, createLog({ process: 'worker', level: config.logLevel })));

async function work(config: Config, log: Log): Promise<void> {
  installRuntime(log);
  const tracing = await startTracing({ exporter: config.tracesExporter, service: 'svc-worker' });
  const registry = new Registry();
  const database = openOwnDatabase(config);
  const probe = openProbe(config.databaseUrl);
  const taskWorkflows = connectTaskWorkflows({
    ...config.temporal,
    taskDeadlineSeconds: config.taskDeadlineSeconds,
    interceptor: tracing?.workflowClient,
  });
  const providers = createCheckedProviders(config, registry, tracing);
  const dependencies = {
    database,
    secrets: new Secrets(config.keyRing),
    providers,
    models: config.catalog.models,
    storage: createStorage(config.storage),
    taskRuns: taskWorkflows,
    log,
    ...limitsOf(config, database, log),
    webhooks: describeWebhooks(config, registry),
  };
  const workers = await createWorkers({
    temporal: config.temporal,
    activitiesMax: config.databaseConnectionsMax * ACTIVITIES_PER_CONNECTION,
    graceSeconds: config.workerGraceSeconds,
    log,
    registry,
    tracing,
    dependencies,
  });
  const readPool = () => readPoolMetrics(database);
  addProcessMetrics(registry, { readPool, countPasswordsWaiting: countWaitingPasswords });
  const readiness = () => checkReadiness({ workers, taskWorkflows, probe });
  const health = createInternalListener({ registry, checkReadiness: readiness });
  const internalPort = await listen(health, config.workerInternalPort, config.internalHost);
  await taskWorkflows.ensureSweepSchedule();

  const running = workers.run();
  const webhooks = startWebhookOutbox({ dependencies, runs: taskWorkflows, log });
  const stop = async (): Promise<void> => {
    log.info({}, 'the worker is stopping');
    workers.shutdown();
    await webhooks.stop(config.workerGraceSeconds * 1000);
    await running;
    await workers.close();
    await taskWorkflows.close();
    await database.close();
    await probe.close();
    await tracing?.stop();
    health.closeAllConnections();
    health.close();
    log.info({}, 'the worker has stopped');
  };
  stopOnSignals({ log, stop, limitMs: config.workerGraceSeconds * 1000 + STOP_EXTRA_MS });
  for (const model of config.withheldModels) log.warn(model, 'a model is not offered');
  log.info({ internalPort }, 'the worker is running');
  await running;
}

function openOwnDatabase({ databaseUrl: url, databaseConnectionsMax: connectionsMax }: Config): Database {
  return openDatabase({ url, connectionsMax, keepsConnections: true });
}

/** Throws ConfigError when a model of the catalogue names an adapter that does not exist. */
function createCheckedProviders(config: Config, registry: Registry, tracing: Tracing | null): Providers {
  const providers = createProviders(config, observeUpstream(registry, tracing));
  for (const { id, adapter } of config.catalog.models.values())
    if (!providers.get(adapter))
      throw new ConfigError(`SVC_CATALOG: ${id} names an adapter that does not exist: ${adapter}`);
  return providers;
}

/** The settings that activities obey. */
function limitsOf(config: Config, database: Database, log: Log) {
  const { runningTasksPerUserMax, requestKeptDays, chatLeaseSeconds, retention } = config;
  const lossBrake = createLossBrake({ database, lossMax: config.lossBrake, log });
  return { runningTasksPerUserMax, requestKeptDays, chatLeaseSeconds, retention, lossBrake };
}

function describeWebhooks(config: Config, registry: Registry): WebhookDependencies {
  const { production, publicUrl, resultUrlSeconds } = config;
  return {
    retryDelaysMs: WEBHOOK_RETRY_DELAYS_MS,
    attemptsMax: WEBHOOK_ATTEMPTS_MAX,
    trustsOrigin: (url) => !production && isLoopbackUrl(url),
    publicUrl: () => publicUrl,
    resultUrlSeconds,
    observe: observeWebhooks(registry),
  };
}
