// Starts the product for a soak: with a Redis and a second API, and each part restarted when it dies.
import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { findFreePort } from '../../dev/servers/ports.ts';
import { ensureRedisProgram, startRedis } from '../../dev/servers/redis.ts';
import { waitUntilOk } from '../../dev/system/scripts.ts';
import { supervise } from '../../dev/system/supervisor.ts';
import { startBenchSystem, type BenchSystem } from '../system.ts';

export const PART_NAMES = [
  'api',
  'second api',
  'worker',
  'postgres',
  'temporal',
  'redis',
  'sandbox',
] as const;
export type PartName = (typeof PART_NAMES)[number];

export interface SoakSystem {
  bench: BenchSystem;
  /** Addresses of both APIs; requests take turns. */
  baseUrls: readonly string[];
  /** Addresses of the processes' internal listeners. */
  internalUrls: Readonly<Record<'api' | 'second api' | 'worker', string>>;
  /** Returns the pid of a part; null while it is being restarted. */
  pid(part: PartName): number | null;
  stop(): Promise<void>;
}

const quiet = (): void => undefined;
/** A chat reservation of a process that was killed is settled by the sweeper after its lease. */
const SETTINGS = {
  SVC_LIMIT_AUTH: '1000000/60',
  SVC_LIMIT_STRAY: '1000000/60',
  SVC_LIMIT_UPLOAD: '1000000/60',
  SVC_CHAT_LEASE_SECONDS: '15',
};

export async function startSoakSystem(): Promise<SoakSystem> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-soak-'));
  const [redisPort, port, internalPort, workerPort] = await freePorts(4);
  const program = await ensureRedisProgram({ log: quiet });
  const files = { logFile: join(folder, 'redis.log'), pidFile: join(folder, 'redis.pid') };
  const redis = await keep('redis', () => startRedis({ program, port: redisPort, ...files, log: quiet }));
  const bench = await startBenchSystem({
    ...SETTINGS,
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
  return {
    bench,
    baseUrls: [bench.baseUrl, `http://127.0.0.1:${port}`],
    internalUrls: {
      api: bench.internalUrl,
      'second api': internalUrl,
      worker: `http://127.0.0.1:${workerPort}`,
    },
    pid: (part) => {
      if (part === 'redis') return redis.pid();
      return part === 'second api' ? second.pid() : bench.pidOf(part);
    },
    stop: async () => {
      await second.stop();
      await bench.stop();
      await redis.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
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
