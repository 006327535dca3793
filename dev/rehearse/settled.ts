// Judges the end of a drill: nothing is open, no task is lost or doubled, the ledger adds up.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from './stage.ts';
import type { TrafficResult } from './traffic.ts';

export interface Settled {
  /** Seconds until no task, and no reservation of one, was open. */
  tasksSeconds: number;
  /** Seconds until no chat call was open: one whose process died stays so for its lease. */
  callsSeconds: number;
  /** How the accepted tasks ended: how often each status, with the code of a failure. */
  ended: Readonly<Record<string, number>>;
  problems: readonly string[];
}

/** Every accepted task is final within a minute of the recovery. */
const TASKS_MS_MAX = 60_000;
/** SVC_CHAT_LEASE_SECONDS is 120; the sweeper comes every 20 s, and one round may fail while all starts. */
const CALLS_MS_MAX = 180_000;
const LOOK_EVERY_MS = 500;
/** Answers that tell callers to come again, or that the upstream fails; others are faults of ours. */
const EXPECTED = /^(no answer|cut stream|(409|429|502|503|504) .*)$/;
const OPEN_TASKS = `
  select (select count(*) from task where status in ('queued', 'in_progress'))
         + (select count(*) from task_attempt where state = 'open')`;
const OPEN_CALLS = `select count(*) from chat_call where status = 'open'`;
const COUNTS = `
  select (select count(*) from task where status = 'completed'),
         (select count(*) from task_attempt where state = 'charged')`;

/** How many tasks there are, to be counted before the traffic begins. */
export async function countTasks(stage: Stage): Promise<number> {
  return Number(await stage.sql('select count(*) from task'));
}

/** Waits until nothing is open, then judges what the traffic left. `before`: the tasks before it. */
export async function judgeEnd(stage: Stage, traffic: TrafficResult, before: number): Promise<Settled> {
  const problems = findFaults(traffic);
  const seconds = await untilSettled(stage, TASKS_MS_MAX, problems);
  problems.push(...(await findLosses(stage, traffic, before)), ...(await checkLedger(stage)));
  return { ...seconds, ended: await countEnds(stage, traffic.accepted), problems };
}

/** Waits until no task is open, for `tasksMsMax` at most, then until no chat call is. */
export async function untilSettled(
  stage: Stage,
  tasksMsMax: number,
  problems: string[],
): Promise<Pick<Settled, 'tasksSeconds' | 'callsSeconds'>> {
  const tasks = [OPEN_TASKS, tasksMsMax, 'tasks or their reservations'] as const;
  const tasksSeconds = await untilNone(stage, ...tasks, problems);
  const callsSeconds = await untilNone(stage, OPEN_CALLS, CALLS_MS_MAX, 'chat calls', problems);
  return { tasksSeconds, callsSeconds };
}

/** Answers that no disturbance excuses. */
export function findFaults({ refused }: TrafficResult): string[] {
  const faults = Object.entries(refused).filter(([reason]) => !EXPECTED.test(reason));
  return faults.map(([reason, count]) => `${count} answers were ${reason}`);
}

/** The documented command; returns what it says when a rule is broken. */
export async function checkLedger(stage: Stage): Promise<string[]> {
  try {
    await stage.compose('run', '--rm', '-T', '--no-deps', 'migrate', 'node', 'cli/db.ts', 'check');
    return [];
  } catch (error) {
    return [`the check of the ledger: ${String(error)}`];
  }
}

/**
 * The documented command after a restore; returns what it found and did, in the words that it prints, and
 * throws when something remains.
 */
export async function reconcile(stage: Stage, ...options: string[]): Promise<string> {
  const once = ['run', '--rm', '-T', '--no-deps', 'worker', 'node', 'cli/admin.ts', 'reconcile'];
  const said = await stage.compose(...once, ...options);
  const found = said.split('\n').filter((line) => /^ +[1-9]/.test(line));
  return found.map((line) => line.trim()).join(', ') || 'nothing';
}

/** Seconds until the statement counts nothing; what is left then is a problem. */
async function untilNone(
  stage: Stage,
  statement: string,
  limitMs: number,
  what: string,
  problems: string[],
): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const open = Number(await stage.sql(statement));
    const elapsedMs = performance.now() - startedAt;
    if (open > 0 && elapsedMs < limitMs) await sleep(LOOK_EVERY_MS);
    else {
      if (open > 0) problems.push(`${open} ${what} are open after ${limitMs / 1000} s`);
      return elapsedMs / 1000;
    }
  }
}

async function findLosses(
  stage: Stage,
  { accepted, givenUp }: TrafficResult,
  before: number,
): Promise<string[]> {
  const problems = await findUncharged(stage);
  const found = await countFound(stage, accepted);
  if (found !== accepted.length)
    problems.push(`of ${accepted.length} accepted tasks ${found} are there, or two orders got one task`);
  const made = (await countTasks(stage)) - before;
  // An order whose caller gave up may have become a task, whose answer was lost.
  if (made < accepted.length || made > accepted.length + givenUp.tasks)
    problems.push(`${accepted.length} orders became ${made} tasks`);
  return problems;
}

/** Says so when charges are not as many as completed tasks. */
export async function findUncharged(stage: Stage): Promise<string[]> {
  const [completed = 0, charged = 0] = (await stage.sql(COUNTS)).split('|').map(Number);
  return completed === charged ? [] : [`${completed} tasks are completed, ${charged} are charged`];
}

/** How the tasks with these ids ended; ids that are not there count nowhere. */
export async function countEnds(stage: Stage, accepted: readonly string[]): Promise<Record<string, number>> {
  const ids = accepted.map((id) => `'${id}'`).join(', ');
  const rows = await stage.sql(
    `select status, coalesce(error_code, ''), count(*) from task where id in (${ids || 'null'}) group by 1, 2`,
  );
  const lines = rows.split('\n').filter((line) => line !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [status = '', code = '', count] = line.split('|');
      return [`${status} ${code}`.trim(), Number(count)];
    }),
  );
}

/** How many of the tasks with these ids there are. */
export async function countFound(stage: Stage, accepted: readonly string[]): Promise<number> {
  return Object.values(await countEnds(stage, accepted)).reduce((sum, count) => sum + count, 0);
}
