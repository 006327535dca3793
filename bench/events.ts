// Measures 200 streams of events: what they cost while nothing happens, and how late a change reaches them.
import { setTimeout as sleep } from 'node:timers/promises';
import { forkEm, type Database } from '../db/database.ts';
import { openDatabase } from '../db/open-database.ts';
import { parseCredits } from '../domain/credits.ts';
import { createBenchCaller, type BenchCaller } from './admission/callers.ts';
import { printTable, quantile } from './measure.ts';
import { processorSeconds, residentBytes } from './processes.ts';
import { bySize } from './size.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';

const STREAMS = 200;
/** As many as a user may have. */
const STREAMS_PER_USER = 4;
const IDLE_MS = bySize({ full: 60_000, small: 20_000 });
const BUSY_MS = bySize({ full: 60_000, small: 15_000 });
/** Tasks created at the same time while changes are measured, as in `tasks`. */
const CREATING_AT_ONCE = 20;
const SETTLE_MS = 5_000;
const CORES_GOAL = 0.03;
const STATEMENTS_GOAL = 2;
const GROWTH_GOAL_MB = 5;
const LATENESS_GOAL_MS = 1_500;

/** Runs `npm run bench -- events`. */
export async function benchEvents(): Promise<readonly Row[]> {
  const system = await startBenchSystem();
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
  const verdict = new Verdict();
  const streams: Stream[] = [];
  try {
    const callers = await createCallers(system, database);
    await sleep(SETTLE_MS); // what begins with the system is no cost of later, and would hide that of streams
    const without = await observe(system, database);
    for (const { sessionToken } of callers)
      for (let each = 0; each < STREAMS_PER_USER; each += 1)
        streams.push(await openStream(system.baseUrl, sessionToken));
    await sleep(SETTLE_MS);
    const idle = await observe(system, database);
    await createTasks(callers);
    await sleep(SETTLE_MS);
    const lateness = streams.flatMap(({ latenessMs }) => latenessMs);
    const cores = idle.cores - without.cores;
    const statements = idle.transactions - without.transactions;
    printTable([
      ['what', 'without streams', `with ${STREAMS}`],
      ['API, cores', without.cores.toFixed(3), idle.cores.toFixed(3)],
      ['transactions a second', without.transactions.toFixed(1), idle.transactions.toFixed(1)],
      ['memory of the API grows by, MB', without.growthMb.toFixed(1), idle.growthMb.toFixed(1)],
      ['events under load', '', String(lateness.length)],
      ['change to event, p50', '', `${quantile(lateness, 0.5).toFixed(0)} ms`],
    ]);
    verdict.atMost(`events: cores of the API for ${STREAMS} idle streams`, cores, CORES_GOAL);
    verdict.atMost('events: statements a second for all of them', statements, STATEMENTS_GOAL);
    verdict.atMost('events: growth of memory while idle', idle.growthMb, GROWTH_GOAL_MB, ' MB');
    verdict.atMost('events: change to event, p95', quantile(lateness, 0.95), LATENESS_GOAL_MS, ' ms');
    const open = streams.filter(({ hasEnded }) => !hasEnded).length;
    verdict.exact('events: no stream has ended', open === STREAMS, `${open} of ${STREAMS} open`);
    return verdict.rows;
  } finally {
    for (const stream of streams) stream.close();
    await database.close();
    await system.stop();
  }
}

async function createCallers(system: BenchSystem, database: Database): Promise<BenchCaller[]> {
  const callers: BenchCaller[] = [];
  for (let user = 0; user < STREAMS / STREAMS_PER_USER; user += 1)
    callers.push(await createBenchCaller(system, database, parseCredits('1000000')));
  return callers;
}

interface Observed {
  cores: number;
  /** Of the whole system, in a second. */
  transactions: number;
  growthMb: number;
}

async function observe(system: BenchSystem, database: Database): Promise<Observed> {
  const pid = system.pids.api;
  if (pid === null) throw new Error('the API does not run');
  const before = [processorSeconds([pid]), await countTransactions(database), residentBytes(pid)] as const;
  await sleep(IDLE_MS);
  const seconds = IDLE_MS / 1000;
  return {
    cores: (processorSeconds([pid]) - before[0]) / seconds,
    transactions: ((await countTransactions(database)) - before[1]) / seconds,
    growthMb: (residentBytes(pid) - before[2]) / 1024 ** 2,
  };
}

async function countTransactions(database: Database): Promise<number> {
  const [row] = await forkEm(database).execute<{ count: string }[]>(
    'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
  );
  return Number(row?.count ?? 0);
}

async function createTasks(callers: readonly BenchCaller[]): Promise<void> {
  const until = Date.now() + BUSY_MS;
  const creator = async (place: number): Promise<void> => {
    for (let at = place; Date.now() < until; at += CREATING_AT_ONCE)
      await callers[at % callers.length]?.createImage('a bench [[sandbox seconds=0]]');
  };
  await Promise.all(Array.from({ length: CREATING_AT_ONCE }, (_, place) => creator(place)));
}

interface Stream {
  /** How long after its change each event of a task came. */
  latenessMs: number[];
  hasEnded: boolean;
  close(): void;
}

async function openStream(baseUrl: string, token: string): Promise<Stream> {
  const closing = new AbortController();
  const headers = { cookie: `svc_session=${token}` };
  const { status, body } = await fetch(`${baseUrl}/api/events`, { headers, signal: closing.signal });
  if (status !== 200 || !body) throw new Error(`a stream was answered with ${status}`);
  const stream: Stream = { latenessMs: [], hasEnded: false, close: () => closing.abort() };
  const read = async (): Promise<void> => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      const blocks = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const updatedAt = /"updatedAt":"([^"]+)"/.exec(block)?.[1];
        if (updatedAt !== undefined) stream.latenessMs.push(Date.now() - Date.parse(updatedAt));
      }
    }
  };
  void read()
    .catch(() => undefined)
    .then(() => (stream.hasEnded = true));
  return stream;
}
