import { startBenchSystem } from './system.ts';
import { startBeside } from './chat/beside.ts';
import { createCallers } from './chat/callers.ts';
import { loadTarget } from './chat/load.ts';
import { findFreePort } from '../dev/ports.ts';
import { ensureRedisProgram, startRedis } from '../dev/redis.ts';
const program = await ensureRedisProgram({ log: console.log });
const redis = await startRedis({
  program,
  port: await findFreePort(),
  log: () => undefined,
  logFile: '/tmp/zz-redis.log',
  pidFile: '/tmp/zz-redis.pid',
});
const p = await findFreePort();
const up = await startBeside('bench/chat/upstream.ts', { PORT: String(p) });
const system = await startBenchSystem({
  REDIS_URL: redis.url,
  OPENAI_BASE_URL: `http://127.0.0.1:${p}/v1`,
  OPENAI_API_KEY: 'bench',
  ...(process.env['PROF'] ? { NODE_OPTIONS: '--cpu-prof --cpu-prof-dir=/tmp/prof' } : {}),
});
const [hot] = await createCallers(system, 0);
const { api, postgres } = system.pids;
const url = `${system.baseUrl}/v1/chat/completions`;
const t = (pids: number[]) => ({ name: 'g', url, headers: hot, pids, streams: true });
await loadTarget(t([api ?? 0]), 20, 2);
for (const c of (process.env['CONNS'] ?? '1,20,100').split(',').map(Number)) {
  const a = await loadTarget(t([api ?? 0]), c, 4);
  const b = await loadTarget(t([postgres ?? 0]), c, 4);
  const d = await loadTarget(t([redis.pid]), c, 3);
  console.log(
    c,
    a.perSecond.toFixed(0),
    'p50',
    a.p50Ms,
    'p99',
    a.p99Ms,
    'api',
    a.cpuMs.toFixed(3),
    'pg',
    b.cpuMs.toFixed(3),
    'redis',
    d.cpuMs.toFixed(3),
    a.refused,
  );
}
up.stop();
await system.stop();
await redis.stop();
process.exit(0);
