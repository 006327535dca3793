// Measures hundreds of simultaneous creations of one user: each is answered, and other users are not delayed.
import { openDatabase } from '../db/open-database.ts';
import { forkEm, type Em } from '../db/database.ts';
import { parseCredits, type MicroCredits } from '../domain/credits.ts';
import { createBenchCaller, type BenchCaller, type Timed } from './admission/callers.ts';
import { watchNeighbour } from './admission/neighbour.ts';
import { readMoney, untilTasks } from './admission/tasks-in-database.ts';
import { printTable, quantile } from './measure.ts';
import { bySize } from './size.ts';
import { startBenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';

const BURSTS = bySize({ full: [50, 200, 1_000], small: [50, 200] });
/** Size of the burst that the goals are about. */
const JUDGED_BURST = 200;
/** Images that the credits of the poor user cover. */
const AFFORDABLE = 7;
const RICH = parseCredits('1000000');
const SETTLE_LIMIT_MS = 180_000;
const ANSWER_GOAL_MS = 1_500;
const NEIGHBOUR_GOAL_MS = 100;

/** Runs `npm run bench -- burst`. */
export async function benchBurst(): Promise<readonly Row[]> {
  const system = await startBenchSystem();
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
  const em = forkEm(database);
  const verdict = new Verdict();
  const create = (credits: MicroCredits) => createBenchCaller(system, database, credits);
  try {
    const price = await priceOfOneImage(em, await create(RICH));
    const rows = [['burst', '202', '402', '429', '503', 'other', 'last ms', 'neighbour p99 ms', 'not 2xx']];
    for (const size of BURSTS) {
      const [caller, other] = [await create(RICH), await create(RICH)];
      const neighbour = await watchNeighbour(other);
      const answers = await burst(caller, size);
      const beside = await neighbour.stop();
      // The next burst is measured by itself, and not beside the work that this one has left.
      for (const { userId } of [caller, other]) await untilEnded(em, userId);
      rows.push([String(size), ...describe(answers), ...describeNeighbour(beside)]);
      if (size === JUDGED_BURST) judge(verdict, answers, beside);
    }
    printTable(rows);
    for (const size of BURSTS)
      await judgeAffordable(verdict, em, await create(price * BigInt(AFFORDABLE)), size);
    return verdict.rows;
  } finally {
    await database.close();
    await system.stop();
  }
}

/** Reads the price of one image from a first task, so that the bench needs no knowledge of the catalogue. */
async function priceOfOneImage(em: Em, caller: BenchCaller): Promise<MicroCredits> {
  const { taskId } = await caller.createImage('a bench [[sandbox seconds=0]]');
  const [row] = await em.execute<{ estimate: string }[]>(
    'select credits_estimate as estimate from task where id = ?',
    [taskId],
  );
  if (!row) throw new Error('the first image of the bench was not created');
  return BigInt(row.estimate);
}

function burst(caller: BenchCaller, size: number): Promise<Timed[]> {
  return Promise.all(Array.from({ length: size }, () => caller.createImage('a burst [[sandbox seconds=0]]')));
}

function judge(verdict: Verdict, answers: readonly Timed[], beside: readonly Timed[]): void {
  const others = answers.filter(({ status }) => ![202, 402, 429].includes(status));
  verdict.exact(`burst of ${answers.length}: every answer is 202, 402 or 429`, others.length === 0);
  verdict.atMost('burst: its last answer', Math.max(...answers.map(({ ms }) => ms)), ANSWER_GOAL_MS, ' ms');
  verdict.atMost('burst: p99 of another user’s requests meanwhile', p99(beside), NEIGHBOUR_GOAL_MS, ' ms');
}

/** Judges a burst with credits for seven images: exactly seven are admitted, and all of them end. */
async function judgeAffordable(verdict: Verdict, em: Em, caller: BenchCaller, size: number): Promise<void> {
  const answers = await burst(caller, size);
  const accepted = answers.filter(({ status }) => status === 202).length;
  const refused = answers.filter(({ status }) => status === 402 || status === 429).length;
  const counts = await untilEnded(em, caller.userId);
  const { reserved, violations } = await readMoney(em, caller.userId);
  const isExact =
    accepted === AFFORDABLE &&
    refused === size - AFFORDABLE &&
    counts.completed === AFFORDABLE &&
    reserved === 0n &&
    violations === 0;
  verdict.exact(
    `burst of ${size} with credits for ${AFFORDABLE}`,
    isExact,
    `${accepted} × 202, ${refused} × 402 or 429, ${counts.completed} completed, ${reserved} still reserved, ` +
      `${violations} violations`,
  );
}

function untilEnded(em: Em, userId: string): ReturnType<typeof untilTasks> {
  return untilTasks(em, userId, ({ queued, in_progress }) => queued + in_progress === 0, SETTLE_LIMIT_MS);
}

function describe(answers: readonly Timed[]): string[] {
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  const known = [202, 402, 429, 503].map(count);
  const others = answers.length - known.reduce((sum, each) => sum + each, 0);
  return [...known, others, Math.round(Math.max(...answers.map(({ ms }) => ms)))].map(String);
}

function describeNeighbour(beside: readonly Timed[]): string[] {
  return [p99(beside).toFixed(0), String(beside.filter(({ status }) => status >= 300).length)];
}

function p99(answers: readonly Timed[]): number {
  return quantile(
    answers.map(({ ms }) => ms),
    0.99,
  );
}
