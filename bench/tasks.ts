// Measures tasks end to end through the public API, against a bare workflow of five empty activities.
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { findViolations } from '../db/ledger/invariants.ts';
import { COMMAND_LINE } from '../db/audit-log.ts';
import { grantCredits } from '../db/identity/user-administration.ts';
import { openDatabase } from '../db/open-database.ts';
import { findUserByEmail } from '../db/identity/users.ts';
import { parseCredits } from '../domain/credits.ts';
import { measure, middle, printTable, type Measured } from './measure.ts';
import { ProcessorTimes } from './processes.ts';
import { IS_PROFILED, profileProcess } from './profile.ts';
import { bySize } from './size.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { forkEm } from '../db/database.ts';
import { Verdict, type Row } from './verdict.ts';

const ROUNDS = bySize({ full: 3, small: 1 });
const SEQUENTIAL = 30;
const PARALLEL = bySize({ full: 200, small: 60 });
const CONCURRENCY = 20;
/** Goals, as multiples of the floor. */
const THROUGHPUT_GOAL = 1.3;
const CREATION_GOAL = 1.5;
/** Until the workflows that a measurement has left behind are done, so that they do not slow the next one. */
const SETTLING_MS = 4_000;
const LIST_EVERY_MS = 100;
/** Tasks in one list: those that run, and those that ended since the list before. */
const LIST_LIMIT = CONCURRENCY * 2;

/** Runs `npm run bench -- tasks`. */
export async function benchTasks(): Promise<readonly Row[]> {
  const verdict = new Verdict();
  const system = await startBenchSystem();
  const connection = await Connection.connect({ address: system.temporalAddress });
  const watcher = await watchTasks(system);
  try {
    const bareWorker = await system.runBeside('bench/bare/worker.ts', {}, 'background');
    await grantPlenty(system);
    const bare = createBare(new Client({ connection }));
    const gateway = createGateway(system, watcher);
    await measure(CONCURRENCY * 2, CONCURRENCY, bare.run); // both sides warm
    await measure(CONCURRENCY * 2, CONCURRENCY, gateway.run);

    const pids = pidsOf(system, bareWorker.pid);
    const measured = { bareCreate: [], create: [], bareRun: [], run: [] } as Record<string, Measured[]>;
    const costs = { bareRun: new ProcessorTimes(pids), run: new ProcessorTimes(pids) };
    const none = new ProcessorTimes({});
    for (let round = 1; round <= ROUNDS; round += 1) {
      console.log(`round ${round} of ${ROUNDS}`);
      for (const [name, total, concurrency, work, cost] of [
        ['bareCreate', SEQUENTIAL, 1, bare.create, none],
        ['create', SEQUENTIAL, 1, gateway.create, none],
        ['bareRun', PARALLEL, CONCURRENCY, bare.run, costs.bareRun],
        ['run', PARALLEL, CONCURRENCY, gateway.run, costs.run],
      ] as const) {
        const each = () => measure(total, concurrency, work);
        measured[name]?.push(await cost.during(total, SETTLING_MS, each));
      }
    }
    printCosts(Object.keys(pids), costs);
    if (IS_PROFILED)
      await profileProcess('the worker', system.pidOf('worker') ?? 0, () =>
        measure(PARALLEL, CONCURRENCY, gateway.run),
      );
    report(verdict, measured);
    await judgeExactness(verdict, system);
    return verdict.rows;
  } finally {
    await watcher.stop();
    await connection.close();
    await system.stop();
  }
}

function pidsOf(system: BenchSystem, bareWorkerPid: number): Record<string, number> {
  const of = (part: Parameters<BenchSystem['pidOf']>[0]): number => system.pidOf(part) ?? 0;
  return {
    Temporal: of('temporal'),
    'the gateway’s worker': of('worker'),
    'the worker of the floor': bareWorkerPid,
    PostgreSQL: of('postgres'),
    'the API': of('api'),
    'the sandbox': of('sandbox'),
  };
}

function printCosts(
  names: readonly string[],
  { bareRun, run }: Readonly<Record<'bareRun' | 'run', ProcessorTimes>>,
): void {
  const row = (name: string): string[] => [
    name,
    ...[bareRun, run].map((times) => times.msOf(name).toFixed(1)),
  ];
  const sum = (times: ProcessorTimes): string =>
    names.reduce((ms, name) => ms + times.msOf(name), 0).toFixed(1);
  printTable([
    ['processor time in', 'five empty activities, ms', 'task, ms'],
    ...names.map(row),
    ['all of them', sum(bareRun), sum(run)],
  ]);
}

/** Runs the floor: start and wait for the result, or start alone. */
function createBare(client: Client) {
  const options = () => ({ workflowId: `bare-${randomUUID()}`, taskQueue: 'bench-bare', args: [] as [] });
  return {
    run: async (): Promise<void> => {
      await client.workflow.execute('bare', options());
    },
    create: async (): Promise<void> => {
      await client.workflow.start('bare', options());
    },
  };
}

function createGateway(system: BenchSystem, watcher: Watcher) {
  async function create(): Promise<string> {
    const response = await fetch(`${system.baseUrl}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${system.demo.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-image-2', prompt: 'a bench [[sandbox seconds=0]]' }),
    });
    const body = (await response.json()) as { id?: string };
    if (response.status !== 202 || !body.id) throw new Error(`creation answered ${response.status}`);
    return body.id;
  }
  return {
    run: async (): Promise<void> => watcher.untilEnded(await create()),
    create: async (): Promise<void> => {
      await create();
    },
  };
}

interface Watcher {
  untilEnded(id: string): Promise<void>;
  stop(): Promise<void>;
}

/** Watches all tasks with one reader, so that the load of reading is the same at every concurrency. */
async function watchTasks(system: BenchSystem): Promise<Watcher> {
  const cookie = await logIn(system);
  const waiting = new Map<string, () => void>();
  const ended = new Set<string>();
  let stopped = false;
  const look = async (): Promise<void> => {
    const response = await fetch(`${system.baseUrl}/api/tasks?limit=${LIST_LIMIT}`, { headers: { cookie } });
    const { data } = (await response.json()) as { data: { id: string; status: string }[] };
    for (const { id, status } of data) {
      if (status === 'queued' || status === 'in_progress') continue;
      ended.add(id);
      waiting.get(id)?.();
      waiting.delete(id);
    }
  };
  const looking = (async () => {
    while (!stopped) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, LIST_EVERY_MS));
    }
  })();
  return {
    untilEnded: (id) =>
      ended.has(id) ? Promise.resolve() : new Promise((resolve) => waiting.set(id, resolve)),
    stop: async () => {
      stopped = true;
      await looking; // the last read has to end before the product is stopped
    },
  };
}

async function logIn(system: BenchSystem): Promise<string> {
  const response = await fetch(`${system.baseUrl}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(system.demo.user),
  });
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function grantPlenty(system: BenchSystem): Promise<void> {
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 1 });
  const em = forkEm(database);
  const user = await findUserByEmail(em, system.demo.user.email);
  if (!user) throw new Error('there is no demo user');
  const credits = parseCredits('1000000');
  await grantCredits(em, COMMAND_LINE, { userId: user.id, credits, note: 'Bench credits' });
  await database.close();
}

function report(verdict: Verdict, measured: Record<string, Measured[]>): void {
  const of = (name: string): Measured => middle(measured[name] ?? []);
  const [bareCreate, create, bareRun, run] = [of('bareCreate'), of('create'), of('bareRun'), of('run')];
  const row = (name: string, { perSecond, p50Ms, p99Ms }: Measured): string[] => {
    return [name, perSecond.toFixed(1), p50Ms.toFixed(1), p99Ms.toFixed(1)];
  };
  printTable([
    ['what', 'per s', 'p50 ms', 'p99 ms'],
    row(`five empty activities, ${CONCURRENCY} at a time`, bareRun),
    row(`task to charged result, ${CONCURRENCY} at a time`, run),
    row('start of a workflow, one at a time', bareCreate),
    row('task creation, one at a time', create),
  ]);
  const rates = { measured: run.perSecond, floor: bareRun.perSecond, unit: '/s' };
  const waits = { measured: create.p50Ms, floor: bareCreate.p50Ms, unit: ' ms' };
  verdict.ratioAtLeast(`tasks to their charged result, ${CONCURRENCY} at a time`, rates, THROUGHPUT_GOAL);
  verdict.ratioAtMost('creation of a task, one after the other, p50', waits, CREATION_GOAL);
}

/** Judges that accepted tasks, upstream calls and charges are the same number. */
async function judgeExactness(verdict: Verdict, system: BenchSystem): Promise<void> {
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 1 });
  const em = forkEm(database);
  const open = async (): Promise<number> => {
    const [row] = await em.execute<{ open: number }[]>(
      `select count(*)::int as open from task where status in ('queued', 'in_progress')`,
    );
    return row?.open ?? 0;
  };
  for (let waited = 0; (await open()) > 0 && waited < 300; waited += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const [counts] = await em.execute<{ tasks: number; charges: number }[]>(`
    select (select count(*)::int from task where status = 'completed') as tasks,
           (select count(*)::int from ledger_transfer where kind = 'charge') as charges`);
  const violations = await findViolations(em);
  await database.close();
  const jobs = await fetch(`${system.sandboxUrl}/_journal?contains=a%20bench`);
  const { entries } = (await jobs.json()) as { entries: unknown[] };
  const { tasks = 0, charges = 0 } = counts ?? {};
  verdict.exact(
    'completed tasks, upstream calls and charges',
    tasks > 0 && tasks === charges && tasks === entries.length && violations.length === 0,
    `${tasks} completed, ${entries.length} at the upstream, ${charges} charges, ${violations.length} violations`,
  );
}
