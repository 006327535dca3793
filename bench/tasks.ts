// Measures tasks end to end through the public API, against a bare workflow of five empty activities.
import { randomUUID } from 'node:crypto';
import { Client, Connection, WithStartWorkflowOperation } from '@temporalio/client';
import { findViolations } from '../db/ledger/invariants.ts';
import { grant } from '../db/ledger/ledger.ts';
import { openDatabase } from '../db/open-database.ts';
import { findUserByEmail } from '../db/identity/users.ts';
import { parseCredits } from '../domain/credits.ts';
import { measure, middle, printTable, type Measured } from './measure.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { forkEm } from '../db/database.ts';

const ROUNDS = 3;
const SEQUENTIAL = 30;
const PARALLEL = 200;
const CONCURRENCY = 20;
/** Goals: throughput at least that of the floor, creation at most twice as slow. */
const THROUGHPUT_GOAL = 1;
const CREATION_GOAL = 2;
const LIST_EVERY_MS = 100;
/** Tasks in one list: those that run, and those that ended since the list before. */
const LIST_LIMIT = CONCURRENCY * 2;

export async function benchTasks(): Promise<void> {
  const system = await startBenchSystem();
  const connection = await Connection.connect({ address: system.temporalAddress });
  const watcher = await watchTasks(system);
  try {
    await system.runBeside('bench/bare/worker.ts');
    await grantPlenty(system);
    const bare = createBare(new Client({ connection }));
    const gateway = createGateway(system, watcher);
    await measure(CONCURRENCY * 2, CONCURRENCY, bare.run); // both sides warm
    await measure(CONCURRENCY * 2, CONCURRENCY, gateway.run);

    const measured = { bareCreate: [], create: [], bareRun: [], run: [] } as Record<string, Measured[]>;
    for (let round = 1; round <= ROUNDS; round += 1) {
      console.log(`round ${round} of ${ROUNDS}`);
      measured['bareCreate']?.push(await measure(SEQUENTIAL, 1, bare.create));
      measured['create']?.push(await measure(SEQUENTIAL, 1, gateway.create));
      measured['bareRun']?.push(await measure(PARALLEL, CONCURRENCY, bare.run));
      measured['run']?.push(await measure(PARALLEL, CONCURRENCY, gateway.run));
    }
    report(measured);
    await reportExactness(system);
  } finally {
    await watcher.stop();
    await connection.close();
    await system.stop();
  }
}

/** Runs the floor: start and wait for the result, or start with an update and wait for the update. */
function createBare(client: Client) {
  const options = () => ({ workflowId: `bare-${randomUUID()}`, taskQueue: 'bench-bare', args: [] as [] });
  return {
    run: async (): Promise<void> => {
      await client.workflow.execute('bare', options());
    },
    create: async (): Promise<void> => {
      const startWorkflowOperation = new WithStartWorkflowOperation('bare', {
        ...options(),
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      await client.workflow.executeUpdateWithStart('admit', { startWorkflowOperation });
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
  const amount = parseCredits('1000000');
  await grant(em, { userId: user.id, amount, idempotencyKey: 'bench', description: 'Bench credits' });
  await database.close();
}

function report(measured: Record<string, Measured[]>): void {
  const of = (name: string): Measured => middle(measured[name] ?? []);
  const [bareCreate, create, bareRun, run] = [of('bareCreate'), of('create'), of('bareRun'), of('run')];
  const throughput = run.perSecond / bareRun.perSecond;
  const creation = create.p50Ms / bareCreate.p50Ms;
  const row = (name: string, { perSecond, p50Ms, p99Ms }: Measured, verdict = ''): string[] => {
    return [name, perSecond.toFixed(1), p50Ms.toFixed(1), p99Ms.toFixed(1), verdict];
  };
  const judge = (ratio: number, goal: string, met: boolean): string => {
    return `${ratio.toFixed(2)} × floor (goal ${goal}: ${met ? 'met' : 'missed'})`;
  };
  printTable([
    ['what', 'per s', 'p50 ms', 'p99 ms', 'against the floor'],
    row(`five empty activities, ${CONCURRENCY} at a time`, bareRun),
    row(
      `task to charged result, ${CONCURRENCY} at a time`,
      run,
      judge(throughput, `≥ ${THROUGHPUT_GOAL}`, throughput >= THROUGHPUT_GOAL),
    ),
    row('update-with-start, one at a time', bareCreate),
    row(
      'task creation, one at a time',
      create,
      judge(creation, `≤ ${CREATION_GOAL}`, creation <= CREATION_GOAL),
    ),
  ]);
}

/** Judges that accepted tasks, upstream calls and charges are the same number. */
async function reportExactness(system: BenchSystem): Promise<void> {
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
           (select count(*)::int from ledger_transaction where kind = 'charge') as charges`);
  const violations = await findViolations(em);
  await database.close();
  const jobs = await fetch(`${system.sandboxUrl}/_journal?contains=a%20bench`);
  const { entries } = (await jobs.json()) as { entries: unknown[] };
  console.log(
    `\naccepted and completed ${counts?.tasks}, upstream calls ${entries.length}, charges ${counts?.charges}, violations ${violations.length}`,
  );
}
