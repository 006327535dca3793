// The API process: listens on the public and the internal port until it is told to stop.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigError, loadConfig, type Config } from '../config.ts';
import { openDatabase } from '../db/orm.ts';
import { createLog, type Log } from '../log.ts';
import { createApp } from './app.ts';
import { createHealthServer } from './health.ts';
import { openGateway } from './open-gateway.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Node looks for slow senders this often; its default of 30 s would make the limits above meaningless. */
const CONNECTIONS_CHECK_MS = 1_000;
const KEEP_ALIVE_MS = 65_000;
const STOP_LIMIT_MS = 25_000;

await main();

async function main(): Promise<void> {
  try {
    const config = loadConfig();
    await serve(config, createLog({ process: 'api', level: config.logLevel }));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

async function serve(config: Config, log: Log): Promise<void> {
  const database = openDatabase({ url: config.databaseUrl, connectionsMax: config.databaseConnectionsMax });
  const gateway = openGateway(config, database, log);
  gateway.lastUses.start();
  let stopping = false;
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = createServer(limits, createApp(gateway));
  const health = createHealthServer(gateway, () => stopping);
  const port = await listen(server, config.port, config.host);
  const internalPort = await listen(health, config.internalPort, '127.0.0.1');
  log.info({ port, internalPort }, 'the API is listening');

  const stop = async (): Promise<void> => {
    if (stopping) process.exit(1); // told twice
    stopping = true;
    log.info({}, 'the API is stopping');
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    await close(server);
    await close(health);
    await gateway.lastUses.stop();
    await gateway.engine.close();
    await database.close();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address() as AddressInfo;
      resolve(address.port);
    });
  });
}

/** Running requests end, idle connections are closed at once. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
