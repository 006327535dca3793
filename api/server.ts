// The API process: listens on the public and the internal port until it is told to stop.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { runWithConfig } from '../config/run-with-config.ts';
import { openDatabase } from '../db/open-database.ts';
import { openProbe } from '../db/probe.ts';
import { createLog, type Log } from '../log.ts';
import { listen } from '../runtime/listener.ts';
import { stopOnSignals } from '../runtime/stopping.ts';
import { loadTokenizer } from '../providers/chat/tokens.ts';
import { startTracing } from '../runtime/tracing.ts';
import { createApp } from './app.ts';
import { createHealthServer } from './monitoring/health.ts';
import { createHttpServer } from './http/http-server.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { openServices } from './open-services.ts';

/** Longest wait of a request for a database connection; after that it is answered 503. */
const CONNECTION_WAIT_MS = 500;
/** Times since the stop signal: streams are told to end, remaining connections are cut, the process exits. */
const STREAMS_END_MS = 20_000;
const CUT_OFF_MS = 26_000;
/** Longest wait for chat calls to be settled after their connections are closed. */
const CALLS_END_MS = 2_000;
/** How long tasks that wait for their start are still started; the sweeper starts the others. */
const STARTS_END_MS = 2_000;
const STOP_LIMIT_MS = 30_000;

await runWithConfig((config) => serve(config, createLog({ process: 'api', level: config.logLevel })));

async function serve(config: Config, log: Log): Promise<void> {
  const tracing = await startTracing({ exporter: config.tracesExporter, service: 'svc-api' });
  const { databaseUrl: url, databaseConnectionsMax: connectionsMax } = config;
  const connectionWaitMs = CONNECTION_WAIT_MS;
  const database = openDatabase({ url, connectionsMax, connectionWaitMs, keepsConnections: true });
  const probe = openProbe(url);
  const stopping = new AbortController();
  const draining = new AbortController();
  const services = openServices(config, database, log, {
    tracing,
    stopping: stopping.signal,
    draining: draining.signal,
  });
  services.lastUses.start();
  await loadTokenizer();
  services.hashRenewals.start();
  await services.limits.start();
  let isStopping = false;
  const http = createHttpServer(createApp(services), {
    headers: () => securityHeaders(services),
    onRefused: (refused) => {
      services.metrics.refusedRaw(refused.code);
      log.info(refused, 'refused before it was a request');
    },
  });
  const health = createHealthServer(services, probe, () => isStopping);
  const port = await listen(http.server, config.port, config.host);
  const internalPort = await listen(health, config.internalPort, config.internalHost);

  /** Closes each part after its users; the internal listener reports "stopping" until the end. */
  const stop = async (drains: boolean): Promise<void> => {
    isStopping = true;
    log.info({}, 'the API is stopping');
    setTimeout(() => stopping.abort(), STREAMS_END_MS).unref();
    draining.abort();
    setTimeout(() => http.server.closeAllConnections(), CUT_OFF_MS).unref();
    http.drain();
    if (drains) await sleep(config.drainSeconds * 1000);
    await http.close();
    stopping.abort(); // whole answers whose callers have left are not awaited any longer
    await services.chat.running.untilIdle(CALLS_END_MS);
    services.events.watcher.stop();
    services.overload.stop();
    await services.chat.settlementWriter.drain();
    await services.lastUses.stop();
    await services.hashRenewals.stop();
    services.limits.stop();
    await services.taskStarts.drain(STARTS_END_MS);
    await services.taskWorkflows.close();
    await database.close();
    await probe.close();
    await tracing?.stop();
    health.closeAllConnections();
    health.close();
    log.info({}, 'the API has stopped');
  };
  stopOnSignals({ log, stop, limitMs: STOP_LIMIT_MS });
  for (const model of config.withheldModels) log.warn(model, 'a model is not offered');
  log.info({ port, internalPort }, 'the API is listening');
}
