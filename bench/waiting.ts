// Measures thousands of videos that wait for their vendor: the cost of waiting, and the delay of the charge.
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../db/open-database.ts';
import { forkEm, type Em } from '../db/database.ts';
import { parseCredits } from '../domain/credits.ts';
import { createBenchCaller, type BenchCaller } from './admission/callers.ts';
import { readMoney, untilTasks } from './admission/tasks-in-database.ts';
import { printTable } from './measure.ts';
import { processorSeconds, residentBytes } from './processes.ts';
import { bySize } from './size.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';

const USERS = 10;
const VIDEOS = bySize({ full: 5_000, small: 200 });
/**
 * Seconds until the vendor ends a video: longer than creating all of them takes, so that all wait at once.
 */
const VENDOR_SECONDS = bySize({ full: 300, small: 60 });
const CREATING_AT_ONCE = 2;
const MEASURED_MS = 30_000;
const HAND_OVER_LIMIT_MS = 300_000;
const END_LIMIT_MS = (VENDOR_SECONDS + 300) * 1_000;
const WORKER_CORES_GOAL = 0.5;
const TEMPORAL_CORES_GOAL = 0.4;
const KILOBYTES_PER_TASK_GOAL = 150;
const COMPLETION_GOAL_MS = 10_000;

/** Runs `npm run bench -- waiting`. */
export async function benchWaiting(): Promise<readonly Row[]> {
  const system = await startBenchSystem();
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
  const em = forkEm(database);
  const verdict = new Verdict();
  try {
    const callers: BenchCaller[] = [];
    for (let user = 0; user < USERS; user += 1)
      callers.push(await createBenchCaller(system, database, parseCredits('1000000')));
    const [worker, temporal] = [pidOf(system, 'worker'), pidOf(system, 'temporal')];
    const idleBytes = residentBytes(worker);
    await createVideos(callers);
    const isHandedOver = ({ queued }: { queued: number }) => queued === 0;
    for (const { userId } of callers) await untilTasks(em, userId, isHandedOver, HAND_OVER_LIMIT_MS);
    const waiting = await countWaiting(em);
    const before = [processorSeconds([worker]), processorSeconds([temporal])] as const;
    await sleep(MEASURED_MS);
    const seconds = MEASURED_MS / 1000;
    const workerCores = (processorSeconds([worker]) - before[0]) / seconds;
    const temporalCores = (processorSeconds([temporal]) - before[1]) / seconds;
    const bytesPerTask = (residentBytes(worker) - idleBytes) / Math.max(1, waiting);
    for (const { userId } of callers)
      await untilTasks(em, userId, (counts) => counts.queued + counts.in_progress === 0, END_LIMIT_MS);
    const { completed, p95Ms } = await readCompletion(em);
    printTable([
      ['what', 'value'],
      ['videos waiting at the same moment', String(waiting)],
      ['worker, cores', workerCores.toFixed(2)],
      ['worker, KB for each waiting video', (bytesPerTask / 1024).toFixed(0)],
      ['Temporal, cores', temporalCores.toFixed(2)],
      ['end at the vendor to completed, p95', `${p95Ms.toFixed(0)} ms`],
    ]);
    verdict.atMost('waiting: cores of the worker', workerCores, WORKER_CORES_GOAL);
    verdict.atMost('waiting: cores of Temporal', temporalCores, TEMPORAL_CORES_GOAL);
    verdict.atMost('waiting: memory per video', bytesPerTask / 1024, KILOBYTES_PER_TASK_GOAL, ' KB');
    verdict.atMost('waiting: end at the vendor to completed, p95', p95Ms, COMPLETION_GOAL_MS, ' ms');
    const { violations } = await readMoney(em, callers[0]?.userId ?? '');
    const ended = `${completed} of ${VIDEOS} completed, ${violations} violations`;
    verdict.exact('waiting: every video completes', completed === VIDEOS && violations === 0, ended);
    return verdict.rows;
  } finally {
    await database.close();
    await system.stop();
  }
}

async function createVideos(callers: readonly BenchCaller[]): Promise<void> {
  let left = VIDEOS;
  const creator = async (caller: BenchCaller): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { status } = await caller.createVideo(`a long one [[sandbox seconds=${VENDOR_SECONDS}]]`);
      if (status !== 202) left += 1; // refused for the moment: sent again
    }
  };
  await Promise.all(
    callers.flatMap((caller) => Array.from({ length: CREATING_AT_ONCE }, () => creator(caller))),
  );
}

async function countWaiting(em: Em): Promise<number> {
  const [row] = await em.execute<{ waiting: number }[]>(
    `select count(*)::int as waiting from submission where state = 'accepted'`,
  );
  return row?.waiting ?? 0;
}

/**
 * Reads how long after the vendor's end tasks were completed: the vendor ends so many seconds after the
 * hand-over.
 */
async function readCompletion(em: Em): Promise<{ completed: number; p95Ms: number }> {
  const [row] = await em.execute<{ completed: number; p95: number | null }[]>(
    `select count(*)::int as completed,
            (percentile_cont(0.95) within group (order by extract(epoch from t.completed_at - s.sent_at) - ?))::float8 as p95
     from task t join submission s on s.task_id = t.id and s.attempt = t.attempt
     where t.status = 'completed'`,
    [VENDOR_SECONDS],
  );
  return { completed: row?.completed ?? 0, p95Ms: (row?.p95 ?? Number.NaN) * 1000 };
}

function pidOf(system: BenchSystem, part: 'worker' | 'temporal'): number {
  const pid = system.pidOf(part);
  if (pid === null) throw new Error(`${part} does not run`);
  return pid;
}
