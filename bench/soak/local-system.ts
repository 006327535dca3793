// Starts the product for a soak as processes: with Redis and a second API, each restarted when it dies.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../dev/servers/ports.ts';
import { ensureRedisProgram, startRedis } from '../../dev/servers/redis.ts';
import { waitUntilOk } from '../../dev/system/scripts.ts';
import { supervise } from '../../dev/system/supervisor.ts';
import { startBenchSystem, type BenchSystem } from '../system.ts';
import { hang, kill, restart } from './faults.ts';
import { untilReady } from './readiness.ts';
import { SOAK_SETTINGS, type Fault, type SoakSystem } from './system.ts';

type FindPid = (part: string) => number | null;

const quiet = (): void => undefined;
const GENTLE = [
  ...[kill('redis', 1), hang('redis', 1, 1_000), hang('worker', 1, 2_000), kill('worker', 1)],
  hang('api', 1, 500),
];
const WORKER_KILLED_UNTIL = 0.4;
/**
 * The possible faults. The second API and, from the middle on, the worker are never killed, because their
 * memory is judged.
 */
const ALL = [
  ...[kill('api', 3), hang('api', 2, 3_000), hang('second api', 1, 3_000)],
  ...[kill('worker', 3, WORKER_KILLED_UNTIL), hang('worker', 2, 8_000)],
  ...[kill('redis', 2), hang('redis', 2, 3_000), kill('temporal', 2), hang('temporal', 2, 8_000)],
  ...[restart('postgres', 1), kill('postgres', 1)],
];
const SIGNALS = { kill: 'SIGKILL', restart: 'SIGINT', hang: 'SIGSTOP' } as const;

export async function startLocalSystem(): Promise<SoakSystem> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-soak-'));
  const [redisPort, port, internalPort, workerPort] = await freePorts(4);
  const program = await ensureRedisProgram({ log: quiet });
  const files = { logFile: join(folder, 'redis.log'), pidFile: join(folder, 'redis.pid') };
  const redis = await keep('redis', () => startRedis({ program, port: redisPort, ...files, log: quiet }));
  const bench = await startBenchSystem({
    ...SOAK_SETTINGS,
    REDIS_URL: redis.current().url,
    SVC_WORKER_INTERNAL_PORT: String(workerPort),
  });
  const internalUrl = `http://127.0.0.1:${internalPort}`;
  const second = await keep('second api', async () => {
    const own = { PORT: String(port), SVC_INTERNAL_PORT: String(internalPort) };
    const running = await bench.runBeside('api/server.ts', own);
    if (await waitUntilOk(`${internalUrl}/livez`, () => !running.hasExited())) return running;
    throw new Error('the second API does not come up');
  });
  const internalUrls = {
    api: bench.internalUrl,
    'second api': internalUrl,
    worker: `http://127.0.0.1:${workerPort}`,
  };
  const findPid: FindPid = (part) => {
    if (part === 'redis') return redis.pid();
    if (part === 'second api') return second.pid();
    const own = (['api', 'worker', 'postgres', 'temporal'] as const).find((name) => name === part);
    return own === undefined ? null : bench.pidOf(own);
  };
  return {
    databaseUrl: bench.databaseUrl,
    secrets: bench.secrets,
    baseUrls: [bench.baseUrl, `http://127.0.0.1:${port}`],
    internalUrls,
    faults: { none: [], gentle: GENTLE, all: ALL },
    strike: (fault, lastsMs) => strike(findPid, fault, lastsMs),
    untilHealthy: () => untilReady(Object.values(internalUrls)),
    stop: async () => {
      await second.stop();
      await bench.stop();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function strike(findPid: FindPid, { part, does }: Fault, lastsMs: number): Promise<boolean> {
  if (does === 'cut') throw new Error(`${part} is a process and has no network of its own`);
  const pid = findPid(part);
  if (pid === null || !send(pid, SIGNALS[does])) return false;
  if (does !== 'hang') return true;
  await sleep(lastsMs);
  send(pid, 'SIGCONT');
  return true;
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function keep<Running extends Awaited<ReturnType<BenchSystem['runBeside']>>>(
  name: string,
  start: () => Promise<Running>,
) {
  const onGiveUp = (error: Error): void => console.error(error.message);
  return supervise({ name, start, warn: quiet, onGiveUp });
}

async function freePorts(count: number): Promise<[number, number, number, number]> {
  const taken = new Set<number>();
  while (taken.size < count) taken.add(await findFreePort(taken));
  const [one = 0, two = 0, three = 0, four = 0] = taken;
  return [one, two, three, four];
}
