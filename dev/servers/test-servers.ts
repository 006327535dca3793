// Starts the servers of one run of the tests, in a folder that is removed with them.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { isAlive, stopLeftover } from '../processes.ts';
import type { ServerName } from './needs.ts';
import { ensureTemporalBinary, isDevelopmentServer, startTemporal } from './temporal.ts';
import { ensureRedisProgram, isRedisServer, startRedis } from './redis.ts';
import type { Terminal } from '../terminal.ts';

export interface TestServersOptions {
  needed: ReadonlySet<ServerName>;
  /** Whether a missing Redis is installed as a package of the system. */
  mayInstall: boolean;
  terminal: Terminal;
  /** Signal that ends a download or an installation under way. */
  signal: AbortSignal;
}

export interface TestServers {
  /** Environment of the tests: the addresses of the servers that run. */
  env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

interface Server {
  address: string;
  stop(): Promise<void>;
}

interface ServerPlace extends TestServersOptions {
  folder: string;
  port: number;
}

interface ServerKind {
  title: string;
  /** Setting that names a server to use as it is, instead of starting one. */
  given: string;
  /** Setting that tells the tests the address. */
  setting: string;
  start: (place: ServerPlace) => Promise<Server>;
}

const FOLDER_PREFIX = 'svc-gateway-test-';

const SERVERS: Readonly<Record<ServerName, ServerKind>> = {
  postgres: {
    title: 'PostgreSQL',
    given: 'DATABASE_URL',
    setting: 'TEST_POSTGRES_URL',
    start: startDatabase,
  },
  temporal: {
    title: 'Temporal',
    given: 'TEMPORAL_ADDRESS',
    setting: 'TEST_TEMPORAL_ADDRESS',
    start: startWorkflowServer,
  },
  redis: { title: 'Redis', given: 'REDIS_URL', setting: 'TEST_REDIS_URL', start: startRateLimitStore },
};

/** Starts the needed servers that the environment does not name: a given DATABASE_URL is used as it is. */
export async function startTestServers(options: TestServersOptions): Promise<TestServers> {
  if (options.needed.size === 0) return { env: {}, stop: () => Promise.resolve() };
  const folder = mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  // PostgreSQL may have to run as another user, who must be able to pass.
  chmodSync(folder, 0o711);
  const ports = new Set<number>();
  const starts: Promise<[setting: string, server: Server]>[] = [];
  for (const name of options.needed) {
    const port = await findFreePort(ports);
    ports.add(port);
    const kind = SERVERS[name];
    starts.push(provide(kind, { ...options, folder, port }).then((server) => [kind.setting, server]));
  }
  const settled = await Promise.allSettled(starts);
  const running = settled.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
  const stop = async (): Promise<void> => {
    await Promise.all(running.map(([, server]) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  const failed = settled.find((start) => start.status === 'rejected');
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  return { env: Object.fromEntries(running.map(([setting, { address }]) => [setting, address])), stop };
}

/** Removes what earlier runs left behind that were killed before they could. */
export async function removeAbandonedServers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const pid = Number.parseInt(name.slice(FOLDER_PREFIX.length), 10);
    if (!(pid > 1) || isAlive(pid)) continue;
    const folder = join(tmpdir(), name);
    try {
      await stopLeftover(
        join(folder, 'postgres/cluster/postmaster.pid'),
        (line) => line.includes(folder),
        'SIGINT',
      );
      await stopLeftover(join(folder, 'temporal.pid'), isDevelopmentServer);
      await stopLeftover(join(folder, 'redis.pid'), isRedisServer);
      rmSync(folder, { recursive: true, force: true });
    } catch {
      // The folder belongs to another user, who has to remove it.
    }
  }
}

async function provide({ title, given, start }: ServerKind, place: ServerPlace): Promise<Server> {
  const address = process.env[given];
  if (!address) return place.terminal.step(title, () => start(place));
  place.terminal.note(`${title}: as the environment says`);
  return { address: given === 'DATABASE_URL' ? adminUrl(address) : address, stop: () => Promise.resolve() };
}

async function startDatabase({ folder, port, terminal }: ServerPlace): Promise<Server> {
  const server = await startPostgres({
    dataDir: join(folder, 'postgres'),
    port,
    logFile: join(folder, 'postgres.log'),
    unsafeButFast: true,
    log: terminal.note,
  });
  return { address: adminUrl(server.url), stop: server.stop };
}

async function startWorkflowServer({ folder, port, terminal, signal }: ServerPlace): Promise<Server> {
  return startTemporal({
    binary: await ensureTemporalBinary({ log: terminal.note, signal }),
    port,
    namespaces: ['default'],
    logFile: join(folder, 'temporal.log'),
    pidFile: join(folder, 'temporal.pid'),
    log: terminal.note,
  });
}

async function startRateLimitStore(place: ServerPlace): Promise<Server> {
  const { folder, port, terminal, signal, mayInstall } = place;
  const server = await startRedis({
    program: await ensureRedisProgram({ log: terminal.note, mayInstall, signal }),
    port,
    logFile: join(folder, 'redis.log'),
    pidFile: join(folder, 'redis.pid'),
    log: terminal.note,
  });
  return { address: server.url, stop: server.stop };
}

/**
 * Returns the address of the same server's database `postgres`, where the tests create their own databases.
 */
function adminUrl(url: string): string {
  const admin = new URL(url);
  admin.pathname = '/postgres';
  return admin.href;
}
