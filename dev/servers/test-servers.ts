/** The servers one run of the tests works against, in a folder of its own that goes away with them. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { isAlive, stopLeftover } from '../processes.ts';
import { ensureTemporalBinary, isDevelopmentServer, startTemporal } from './temporal.ts';
import { ensureRedisProgram, isRedisServer, startRedis } from './redis.ts';
import type { Terminal } from '../terminal.ts';

export interface TestServers {
  /** Of the superuser, on the database `postgres`. */
  postgresUrl: string;
  temporalAddress: string;
  redisUrl: string;
  stop(): Promise<void>;
}

interface Server<Address> {
  address: Address;
  stop(): Promise<void>;
}

const folderPrefix = 'svc-gateway-test-';

/** Starts what the environment does not name: DATABASE_URL, TEMPORAL_ADDRESS and REDIS_URL are used as they are. */
export async function startTestServers(terminal: Terminal, signal: AbortSignal): Promise<TestServers> {
  const folder = mkdtempSync(join(tmpdir(), `${folderPrefix}${process.pid}-`));
  // PostgreSQL may have to run as another user, who must be able to pass.
  chmodSync(folder, 0o711);
  const port = await findFreePort();
  const starts = await Promise.allSettled([
    provide('PostgreSQL', process.env['DATABASE_URL'], terminal, () => startDatabase(folder, port, terminal)),
    provide('Temporal', process.env['TEMPORAL_ADDRESS'], terminal, () =>
      startEngine(folder, port, terminal, signal),
    ),
    provide('Redis', process.env['REDIS_URL'], terminal, () => startLimits(folder, port, terminal, signal)),
  ]);
  const stop = async (): Promise<void> => {
    const running = starts.filter((start) => start.status === 'fulfilled');
    await Promise.all(running.map((start) => start.value.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  const [postgres, temporal, redis] = starts;
  if (postgres.status === 'fulfilled' && temporal.status === 'fulfilled' && redis.status === 'fulfilled') {
    return {
      postgresUrl: adminUrl(postgres.value.address),
      temporalAddress: temporal.value.address,
      redisUrl: redis.value.address,
      stop,
    };
  }
  await stop();
  throw starts.find((start) => start.status === 'rejected')?.reason;
}

/** Clears away what runs left behind that were killed before they could. */
export async function removeAbandonedServers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(folderPrefix)) continue;
    const pid = Number.parseInt(name.slice(folderPrefix.length), 10);
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
      // Another user's; theirs to clear away.
    }
  }
}

async function provide(
  name: string,
  given: string | undefined,
  terminal: Terminal,
  start: () => Promise<Server<string>>,
): Promise<Server<string>> {
  if (given === undefined || given === '') return terminal.step(name, start);
  terminal.note(`${name}: as the environment says`);
  return { address: given, stop: () => Promise.resolve() };
}

async function startDatabase(folder: string, port: number, terminal: Terminal): Promise<Server<string>> {
  const server = await startPostgres({
    dataDir: join(folder, 'postgres'),
    port,
    logFile: join(folder, 'postgres.log'),
    unsafeButFast: true,
    log: terminal.note,
  });
  return { address: server.url, stop: server.stop };
}

async function startEngine(
  folder: string,
  otherPort: number,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Server<string>> {
  const binary = await ensureTemporalBinary({ log: terminal.note, signal });
  const port = await findFreePort(new Set([otherPort]));
  const server = await startTemporal({
    binary,
    port,
    namespaces: ['default'],
    logFile: join(folder, 'temporal.log'),
    pidFile: join(folder, 'temporal.pid'),
    log: terminal.note,
  });
  return { address: server.address, stop: server.stop };
}

async function startLimits(
  folder: string,
  otherPort: number,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Server<string>> {
  const program = await ensureRedisProgram({ log: terminal.note, signal });
  const port = await findFreePort(new Set([otherPort]));
  const server = await startRedis({
    program,
    port,
    logFile: join(folder, 'redis.log'),
    pidFile: join(folder, 'redis.pid'),
    log: terminal.note,
  });
  return { address: server.url, stop: server.stop };
}

function adminUrl(url: string): string {
  const admin = new URL(url);
  admin.pathname = '/postgres';
  return admin.href;
}
