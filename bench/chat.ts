// Measures chat through the gateway, a bare proxy, one with accounting, and Portkey, interleaved in one run.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findViolations } from '../db/ledger/invariants.ts';
import { openDatabase } from '../db/open-database.ts';
import { findFreePort } from '../dev/servers/ports.ts';
import { ensureRedisProgram, startRedis } from '../dev/servers/redis.ts';
import { createCallers } from './chat/callers.ts';
import { checkAccounting } from './chat/accounting.ts';
import { benchKilled } from './chat/killed.ts';
import { loadTarget, timeCall, timeStream, type Load, type Target } from './chat/load.ts';
import { startPortkey, type Portkey } from './chat/portkey.ts';
import { startBenchScript, type BenchProcess } from './chat/bench-process.ts';
import { judgeMeasurements, printMeasurements, type Measurements } from './chat/report.ts';
import { IS_PROFILED, profileProcess } from './profile.ts';
import { bySize } from './size.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';
import { forkEm } from '../db/database.ts';

const ROUNDS = bySize({ full: 3, small: 1 });
const LOAD_SECONDS = bySize({ full: 4, small: 2 });
/**
 * Until the engine has optimised what runs. A call of the gateway used 1.0 ms in its first 8 seconds under
 * load, and 0.7 ms from the 40th on (at 20 connections).
 */
const WARM_UP_SECONDS = bySize({ full: 20, small: 1 });
const SEQUENTIAL_CALLS = 200;
const STREAMS = 20;
const MANY_ACCOUNTS = 1_000;

/** Runs `npm run bench -- chat`. */
export async function benchChat(): Promise<readonly Row[]> {
  const verdict = new Verdict();
  const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-bench-redis-'));
  const quiet = (): void => undefined;
  const program = await ensureRedisProgram({ log: console.log });
  const files = { logFile: join(folder, 'redis.log'), pidFile: join(folder, 'redis.pid') };
  const redis = await startRedis({ program, port: await findFreePort(), log: quiet, ...files });
  const beside: BenchProcess[] = [];
  const upstreamPort = await findFreePort();
  beside.push(await startBenchScript('bench/chat/upstream.ts', { PORT: String(upstreamPort) }));
  const system = await startBenchSystem({
    REDIS_URL: redis.url,
    OPENAI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
    OPENAI_API_KEY: 'bench',
    SVC_CHAT_LEASE_SECONDS: '5',
  });
  try {
    const upstream = { UPSTREAM_PORT: String(upstreamPort), DATABASE_URL: system.databaseUrl };
    const bare = await startProxy({ ...upstream, ACCOUNTING: '0' }, beside);
    const floor = await startProxy({ ...upstream, ACCOUNTING: '1' }, beside);
    const portkey = await startPortkey(upstreamPort);
    if (portkey) beside.push(portkey);
    const [hot, many] = await createCallers(system, MANY_ACCOUNTS);
    const { api, postgres } = system.pids;
    const ours = {
      url: `${system.baseUrl}/v1/chat/completions`,
      pids: [api ?? 0, postgres ?? 0, redis.pid],
      streams: true,
    };
    const targets: Target[] = [
      proxyTarget('bare proxy', bare, []),
      proxyTarget('accounting floor', floor, [postgres ?? 0]),
      { name: 'gateway, one account', ...ours, headers: hot },
      { name: `gateway, ${MANY_ACCOUNTS} accounts`, ...ours, headers: many },
      { name: 'gateway, with keys', ...ours, headers: many, isKeyed: true },
      ...(portkey ? [portkeyTarget(portkey)] : []),
    ];
    const measured = await measureAll(targets);
    printMeasurements(measured);
    judgeMeasurements(verdict, measured);
    if (IS_PROFILED)
      await profileProcess(`the API, 100 connections, ${MANY_ACCOUNTS} accounts`, api ?? 0, () =>
        loadTarget({ name: 'profiled', ...ours, headers: many }, 100, LOAD_SECONDS),
      );
    await judgeExactness(verdict, system, upstreamPort);
    const target = targets.find(({ name }) => name.startsWith('gateway, one'));
    if (target) await benchKilled(verdict, system, target, () => countUpstream(upstreamPort));
    return verdict.rows;
  } finally {
    for (const each of beside) each.stop();
    await system.stop();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function portkeyTarget({ url, headers, pid }: Portkey): Target {
  return { name: 'Portkey', url, headers: [headers], pids: [pid], streams: false };
}

function proxyTarget(name: string, { url, pid }: Proxy, beside: readonly number[]): Target {
  return { name, url, headers: [{}], pids: [pid, ...beside], streams: true };
}

interface Proxy {
  url: string;
  pid: number;
}

async function startProxy(settings: Record<string, string>, beside: BenchProcess[]): Promise<Proxy> {
  const port = String(await findFreePort());
  const proxy = await startBenchScript('bench/chat/proxy.ts', { ...settings, PORT: port });
  beside.push(proxy);
  return { url: `http://127.0.0.1:${port}/v1/chat/completions`, pid: proxy.pid };
}

async function measureAll(targets: readonly Target[]): Promise<Measurements> {
  const measured: Measurements = new Map(
    targets.map(({ name }) => [name, { sequentialMs: [], at20: [], at100: [], streams: [] }]),
  );
  for (const target of targets) await loadTarget(target, 100, WARM_UP_SECONDS);
  for (let round = 1; round <= ROUNDS; round += 1) {
    console.log(`round ${round} of ${ROUNDS}`);
    for (const target of targets) {
      const of = measured.get(target.name);
      for (let call = 0; call < SEQUENTIAL_CALLS; call += 1) of?.sequentialMs.push(await timeCall(target));
      of?.at20.push(checked(target, await loadTarget(target, 20, LOAD_SECONDS)));
      of?.at100.push(checked(target, await loadTarget(target, 100, LOAD_SECONDS)));
      for (let stream = 0; target.streams && stream < STREAMS; stream += 1)
        of?.streams.push(await timeStream(target));
    }
  }
  return measured;
}

function checked({ name }: Target, load: Load): Load {
  if (load.refused > 0) console.log(`${name}: ${load.refused} calls were refused or failed`);
  return load;
}

async function countUpstream(port: number): Promise<number> {
  return Number(await (await fetch(`http://127.0.0.1:${port}/calls`)).text());
}

/**
 * Judges that every completed call was charged once, and that the upstream saw no call that is not recorded.
 * The load ends in the middle of some calls: those are recorded as cancelled.
 */
async function judgeExactness(verdict: Verdict, system: BenchSystem, upstreamPort: number): Promise<void> {
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 1 });
  const em = forkEm(database);
  const [counts] = await em.execute<{ calls: number; recorded: number; charges: number; open: number }[]>(`
    select (select count(*)::int from chat_call where status = 'completed') as calls,
           (select count(*)::int from chat_call where status <> 'open') as recorded,
           (select count(*)::int from ledger_transfer where kind = 'charge') as charges,
           (select count(*)::int from chat_call where status = 'open') as open`);
  const violations = await findViolations(em);
  const floor = await checkAccounting(database);
  await database.close();
  verdict.exact(
    'the floor charges each of its calls once',
    floor.calls > 0 && floor.isExact,
    `${floor.calls} calls, balances ${floor.isExact ? 'fit' : 'do not fit'}`,
  );
  const upstream = await countUpstream(upstreamPort);
  const { calls = 0, recorded = 0, charges = 0, open = 0 } = counts ?? {};
  const isExact =
    calls > 0 &&
    calls === charges &&
    calls <= upstream &&
    upstream <= recorded &&
    open + violations.length === 0;
  verdict.exact(
    'completed calls, charges, and calls that the upstream saw',
    isExact,
    `${calls} completed, ${charges} charges, ${upstream} at the upstream, ${recorded} recorded, ${open} open, ` +
      `${violations.length} violations`,
  );
}
