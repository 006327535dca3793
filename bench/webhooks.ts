// Measures webhooks: a burst of events to many endpoints, a tenth of them dead, and what it costs a task
// beside it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMMAND_LINE } from '../db/audit-log.ts';
import { forkEm, type Database, type Em } from '../db/database.ts';
import { openDatabase } from '../db/open-database.ts';
import { makeId } from '../db/ids.ts';
import { createEndpoint } from '../db/webhooks/endpoints.ts';
import { parseCredits } from '../domain/credits.ts';
import { WEBHOOKS_PER_USER_MAX } from '../domain/webhooks.ts';
import { createBenchCaller, type BenchCaller } from './admission/callers.ts';
import { untilTasks } from './admission/tasks-in-database.ts';
import { printTable, quantile } from './measure.ts';
import { IS_PROFILED, profileProcess } from './profile.ts';
import { bySize } from './size.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';

const ENDPOINTS = bySize({ full: 100, small: 20 });
const EVENTS = bySize({ full: 10_000, small: 1_000 });
const DEAD = ENDPOINTS / 10;
const ALL_WITHIN_MS = 10_000;
/** Longest that the bench waits for what the goal says comes within ten seconds. */
const ALL_LIMIT_MS = 600_000;
const QUIET_TASKS = 10;
const TASK_RATIO_GOAL = 2;

/** Runs `npm run bench -- webhooks`. */
export async function benchWebhooks(): Promise<readonly Row[]> {
  const system = await startBenchSystem();
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
  const receiver = await startReceiver();
  const verdict = new Verdict();
  try {
    const caller = await createBenchCaller(system, database, parseCredits('1000000'));
    const quietMs = await measureTasks(database, caller, () => false, QUIET_TASKS);
    const living = await makeEndpoints(system, database, receiver);
    const expected = (EVENTS / ENDPOINTS) * living.length;
    const startedAt = await recordEvents(forkEm(database));
    const isDone = (): boolean => receiver.ids.size >= expected || Date.now() > startedAt + ALL_LIMIT_MS;
    let busyMs = 0;
    const deliver = async (): Promise<void> => {
      busyMs = await measureTasks(database, caller, isDone, Number.POSITIVE_INFINITY);
    };
    if (IS_PROFILED) await profileProcess('the worker', system.pidOf('worker') ?? 0, deliver);
    else await deliver();
    const delays = [...receiver.ids.values()].map((at) => at - startedAt);
    const lastMs = delays.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...delays);
    printTable([
      ['what', 'value'],
      ['events to living endpoints', `${delays.length} of ${expected}`],
      ['recorded to received, median', `${quantile(delays, 0.5)} ms`],
      ['recorded to received, last', `${lastMs} ms`],
      ['deliveries a second', (delays.length / (lastMs / 1000)).toFixed(0)],
      ['a task on the quiet system, median', `${quietMs.toFixed(0)} ms`],
      ['a task meanwhile, median', `${busyMs.toFixed(0)} ms`],
    ]);
    verdict.atMost('webhooks: the living have all of theirs', lastMs / 1000, ALL_WITHIN_MS / 1000, ' s');
    verdict.exact(
      'webhooks: every event arrives',
      delays.length === expected,
      `${delays.length} of ${expected}`,
    );
    const tasks = { measured: busyMs, floor: quietMs, unit: ' ms' };
    verdict.ratioAtMost('webhooks: a task meanwhile', tasks, TASK_RATIO_GOAL);
    return verdict.rows;
  } finally {
    receiver.close();
    await database.close();
    await system.stop();
  }
}

interface BenchReceiver {
  url: string;
  /** When each event arrived first, by its id. */
  ids: Map<string, number>;
  close(): void;
}

/** Answers 204; at `/hang`, nothing. */
async function startReceiver(): Promise<BenchReceiver> {
  const ids = new Map<string, number>();
  const server = createServer((req, res) => {
    req.resume();
    if (req.url === '/hang') return;
    const id = String(req.headers['webhook-id']);
    if (!ids.has(id)) ids.set(id, Date.now());
    res.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, ids, close };
}

/** Of the dead, every other one hangs, and the rest refuses connections. Answers the living. */
async function makeEndpoints(
  system: BenchSystem,
  database: Database,
  { url }: BenchReceiver,
): Promise<string[]> {
  const living: string[] = [];
  let owner: BenchCaller | null = null;
  for (let index = 0; index < ENDPOINTS; index += 1) {
    if (!owner || index % WEBHOOKS_PER_USER_MAX === 0)
      owner = await createBenchCaller(system, database, parseCredits('1000'));
    const isDead = index < DEAD;
    const dead = index % 2 === 0 ? `${url}/hang` : 'http://127.0.0.1:9/';
    const fields = { url: isDead ? dead : `${url}/`, description: null, balanceBelow: null };
    const made = await createEndpoint(
      forkEm(database),
      system.secrets,
      { userId: owner.userId, origin: COMMAND_LINE },
      { ...fields, events: ['task.completed'] },
      WEBHOOKS_PER_USER_MAX,
    );
    if (made && !isDead) living.push(made.endpoint.id);
  }
  return living;
}

/** Writes all events in one transaction, as many for each endpoint. Answers when it was committed. */
async function recordEvents(em: Em): Promise<number> {
  let startedAt = Date.now();
  await em.transactional(async (tx) => {
    const endpoints = await tx.execute<{ id: string; user_id: string }[]>(
      'select id, user_id from webhook_endpoint',
    );
    for (const { id, user_id: userId } of endpoints) {
      const rows = Array.from({ length: EVENTS / ENDPOINTS }, () => [makeId('evt'), makeId('dlv')] as const);
      const ids = rows.map(([eventId, deliveryId]) => `('${eventId}', '${deliveryId}')`).join();
      await tx.execute(`
        with made (event_id, delivery_id) as (values ${ids}), recorded as (
          insert into webhook_event (id, user_id, type, data)
          select event_id, '${userId}', 'webhook.test', '{}' from made
        )
        insert into webhook_delivery (id, event_id, endpoint_id, user_id)
        select delivery_id, event_id, '${id}', '${userId}' from made`);
    }
    startedAt = Date.now();
  });
  return startedAt;
}

/** Orders images one after the other and answers the median of order to completion, in milliseconds. */
async function measureTasks(
  database: Database,
  caller: BenchCaller,
  isDone: () => boolean,
  tasksMax: number,
): Promise<number> {
  const times: number[] = [];
  do {
    const startedAt = performance.now();
    await caller.createImage('[[sandbox seconds=0]]');
    await untilTasks(
      forkEm(database),
      caller.userId,
      (counts) => counts.queued + counts.in_progress === 0,
      60_000,
    );
    times.push(performance.now() - startedAt);
    await sleep(50);
  } while (!isDone() && times.length < tasksMax);
  return quantile(times, 0.5);
}
