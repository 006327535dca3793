// A Temporal, PostgreSQL or Redis for one test file alone, which may be killed without disturbing others.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../../dev/servers/ports.ts';
import { startPostgres } from '../../../dev/servers/postgres.ts';
import type { RunningProcess } from '../../../dev/processes.ts';
import { ensureRedisProgram, startRedis } from '../../../dev/servers/redis.ts';
import { ensureTemporalBinary, startTemporal } from '../../../dev/servers/temporal.ts';

export interface OwnServer {
  /**
   * `host:port` of Temporal, the superuser's URL of PostgreSQL's database `postgres`, or the URL of Redis.
   */
  address: string;
  /** Makes the server stop answering with connections open, as a machine that hangs. */
  suspend(): void;
  resume(): void;
  /** Kills the server at once; what it had not written yet is lost. */
  kill(): Promise<void>;
  /** Starts the server again at the same address, with the same files. */
  restart(): Promise<void>;
  /** Ends the server and removes its files. */
  remove(): Promise<void>;
}

const quiet = (): void => undefined;

/** A Temporal server that keeps its histories in a file. */
export async function startOwnTemporal(namespace: string): Promise<OwnServer> {
  const binary = await ensureTemporalBinary({ log: quiet, signal: new AbortController().signal });
  const port = await findFreePort();
  return runOwn(async (folder) => {
    const options = {
      binary,
      port,
      dataFile: join(folder, 'temporal.db'),
      namespaces: [namespace],
      logFile: join(folder, 'temporal.log'),
      pidFile: join(folder, 'temporal.pid'),
      log: quiet,
    };
    const server = await startTemporal(options);
    return { server, address: server.address };
  });
}

/** A PostgreSQL server with durable commits: losing them is not part of the drills. */
export async function startOwnPostgres(): Promise<OwnServer> {
  const port = await findFreePort();
  return runOwn(async (folder) => {
    const options = {
      dataDir: join(folder, 'postgres'),
      logFile: join(folder, 'postgres.log'),
      port,
      log: quiet,
    };
    const server = await startPostgres(options);
    return { server, address: server.url };
  });
}

/** A Redis server without persistence: empty after a restart. */
export async function startOwnRedis(): Promise<OwnServer> {
  const program = await ensureRedisProgram({ log: quiet });
  const port = await findFreePort();
  return runOwn(async (folder) => {
    const options = {
      program,
      port,
      logFile: join(folder, 'redis.log'),
      pidFile: join(folder, 'redis.pid'),
      log: quiet,
    };
    const server = await startRedis(options);
    return { server, address: server.url };
  });
}

async function runOwn(
  start: (folder: string) => Promise<{ server: RunningProcess; address: string }>,
): Promise<OwnServer> {
  // The name by which the next test run finds and removes what an interrupted one left behind.
  const folder = mkdtempSync(join(tmpdir(), `svc-gateway-test-${process.pid}-`));
  chmodSync(folder, 0o711);
  let { server, address } = await start(folder);
  return {
    address,
    suspend: () => void process.kill(server.pid, 'SIGSTOP'),
    resume: () => void process.kill(server.pid, 'SIGCONT'),
    kill: async () => {
      process.kill(server.pid, 'SIGKILL');
      await server.exited;
    },
    restart: async () => {
      ({ server, address } = await start(folder));
    },
    remove: async () => {
      if (!server.hasExited()) process.kill(server.pid, 'SIGCONT');
      await server.stop(5_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
