// Measures a vendor slow at every image: another user's instant image and a cancellation must not wait.
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../db/open-database.ts';
import { forkEm, type Em } from '../db/database.ts';
import { parseCredits } from '../domain/credits.ts';
import { createBenchCaller, type BenchCaller } from './admission/callers.ts';
import { countTasks, untilFinal } from './admission/tasks-in-database.ts';
import { printTable } from './measure.ts';
import { bySize } from './size.ts';
import { startBenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';

const USERS = bySize({ full: 25, small: 5 });
const IMAGES_PER_USER = 20;
const SLOW_SECONDS = 45;
/** Time in which the vendor is called as often as the product allows. */
const SPREAD_MS = 12_000;
const LIMIT_MS = 120_000;
const INSTANT_GOAL_MS = 500;
const CANCEL_GOAL_MS = 1_000;
const CREDITS = parseCredits('1000000');

/** Runs `npm run bench -- slow-vendor`. */
export async function benchSlowVendor(): Promise<readonly Row[]> {
  const system = await startBenchSystem();
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
  const em = forkEm(database);
  const verdict = new Verdict();
  try {
    const quick = await createBenchCaller(system, database, CREDITS);
    const quiet = await timeInstantImage(em, quick);
    const slow: BenchCaller[] = [];
    for (let user = 0; user < USERS; user += 1) slow.push(await createBenchCaller(system, database, CREDITS));
    const accepted = await fill(slow);
    await sleep(SPREAD_MS);
    const busy = await timeInstantImage(em, quick);
    const cancelled = await slow[0]?.cancel(accepted[0] ?? '');
    const running = (await Promise.all(slow.map(({ userId }) => countTasks(em, userId)))).reduce(
      (sum, { in_progress }) => sum + in_progress,
      0,
    );
    printTable([
      ['what', 'value'],
      ['slow images accepted', String(accepted.length)],
      ['slow images in progress', String(running)],
      ['instant image, machine quiet', `${quiet.ms.toFixed(0)} ms, ${quiet.status}`],
      ['instant image beside them', `${busy.ms.toFixed(0)} ms, ${busy.status}`],
      ['cancellation of a slow image', `${cancelled?.ms.toFixed(0)} ms, ${cancelled?.status}`],
    ]);
    verdict.atMost('slow vendor: another user’s instant image', busy.ms, INSTANT_GOAL_MS, ' ms');
    verdict.atMost('slow vendor: a cancellation', cancelled?.ms ?? LIMIT_MS, CANCEL_GOAL_MS, ' ms');
    verdict.exact('slow vendor: the cancellation answers 200', cancelled?.status === 200);
    verdict.exact('slow vendor: the instant image completes', busy.status === 'completed');
    return verdict.rows;
  } finally {
    await database.close();
    await system.stop();
  }
}

async function timeInstantImage(em: Em, caller: BenchCaller): Promise<{ status: string; ms: number }> {
  const { taskId } = await caller.createImage('an instant one [[sandbox seconds=0]]');
  if (taskId === null) throw new Error('the instant image was not accepted');
  return untilFinal(em, taskId, LIMIT_MS);
}

/** Creates each user's images one after the other, so that their creation is no burst. */
async function fill(callers: readonly BenchCaller[]): Promise<string[]> {
  const accepted = await Promise.all(
    callers.map(async (caller) => {
      const ids: string[] = [];
      for (let image = 0; image < IMAGES_PER_USER; image += 1) {
        const { taskId } = await caller.createImage(`a slow one [[sandbox seconds=${SLOW_SECONDS}]]`);
        if (taskId !== null) ids.push(taskId);
      }
      return ids;
    }),
  );
  return accepted.flat();
}
