// Plays hostile users, one attack after the other and all together, and measures another user beside them.
import { setTimeout as sleep } from 'node:timers/promises';
import { insertUser } from '../db/identity/users.ts';
import { createApiKey } from '../db/keys/api-keys.ts';
import { COMMAND_LINE } from '../db/audit-log.ts';
import { grantCredits } from '../db/identity/user-administration.ts';
import { openDatabase } from '../db/open-database.ts';
import { forkEm, type Database } from '../db/database.ts';
import { parseCredits } from '../domain/credits.ts';
import { printTable } from './measure.ts';
import { ATTACKS, type Told } from './neighbours/attacks.ts';
import { beginAttack, besideBurner } from './neighbours/beside.ts';
import { beginProcessorUse, type ProcessorUse } from './neighbours/processor-use.ts';
import { readLoopStop, readSheds, watchVictim, type Seen } from './neighbours/victim.ts';
import { residentBytes } from './processes.ts';
import { IS_PROFILED, profileProcess } from './profile.ts';
import { bySize } from './size.ts';
import { startBenchSystem, type BenchSystem } from './system.ts';
import { Verdict, type Row } from './verdict.ts';

const KEYS_PER_USER = 20;
/** Enough for 80 slow images and little more. */
const HOSTILE_CREDITS = '900';
const VICTIM_CREDITS = '1000';
/** Attacks that are played at once, by the title of their rows. */
const SETS: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.keys(ATTACKS).map((name) => [name, [name]])),
  'all together': Object.keys(ATTACKS),
};
/** Attacks that are played; all when empty. */
const ONLY = (process.env['BENCH_ATTACK'] ?? '').split(',').filter((title) => title !== '');
const WATCHED_MS = bySize({ full: 20_000, small: 8_000 });
const BEGINNING_MS = 1_500;
const RECOVERY_MS = 5_000;
const P99_FACTOR_GOAL = 3;
const LOOP_STOP_GOAL_MS = 100;
const MEMORY_GROWTH_GOAL_MB = 150;
/**
 * A part of an attack may be under way when it ends. Less than this, and the figures are of another attack.
 */
const SENT_GOAL = 0.9;
/** The limits as they are delivered: they are part of what protects neighbours. */
const AS_DELIVERED = {
  SVC_LIMIT_CHAT: '120/60',
  SVC_LIMIT_CREATE: '60/60',
  SVC_LIMIT_READ: '600/60',
  SVC_RUNNING_TASKS_PER_USER: '20',
  SVC_WAITING_TASKS_PER_USER: '200',
};

interface Measured extends Seen {
  loopStopMs: number;
  /** Resident memory of the API, before the attack and some seconds after it. */
  memoryMb: readonly [before: number, after: number];
  /** What the attack amounted to; null without one. */
  told: Told | null;
  use: ProcessorUse;
  /** Requests that the API refused for want of room, by what was short. */
  sheds: string;
}

/** Runs `npm run bench -- neighbours`; BENCH_ATTACK names attacks, BENCH_SLOW_BODIES their number. */
export async function benchNeighbours(): Promise<readonly Row[]> {
  const system = await startBenchSystem(AS_DELIVERED);
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 2 });
  const verdict = new Verdict();
  const createKeys = (credits: string) => createUserKeys(system, database, credits);
  try {
    await watchVictim(system.baseUrl, await createKeys(VICTIM_CREDITS), BEGINNING_MS);
    const quiet = await measure(system, createKeys, []);
    const burned = await besideBurner(() => measure(system, createKeys, []));
    const rows = [heading(), describe('nobody', quiet), describe('a burner', burned)];
    for (const [title, names] of Object.entries(SETS)) {
      if (ONLY.length > 0 && !ONLY.includes(title)) continue;
      const beside = await measure(system, createKeys, names);
      rows.push(describe(title, beside));
      judge(verdict, title, { beside, quiet, burned });
    }
    printTable(rows);
    return verdict.rows;
  } finally {
    await database.close();
    await system.stop();
  }
}

async function measure(
  system: BenchSystem,
  createKeys: (credits: string) => Promise<string[]>,
  names: readonly string[],
): Promise<Measured> {
  const victim = await createKeys(VICTIM_CREDITS);
  const before = memoryMb(system);
  const shedsBefore = await readSheds(system.internalUrl);
  await readLoopStop(system.internalUrl);
  const attack =
    names.length > 0 ? await beginAttack(system.baseUrl, await createKeys(HOSTILE_CREDITS), names) : null;
  if (attack) await sleep(BEGINNING_MS);
  const pids = pidsOf(system);
  const endUse = beginProcessorUse(
    { ...pids, ...(attack && { attacker: attack.pid }) },
    { victim: process.pid, api: pids.api },
  );
  let seen = await watchVictim(system.baseUrl, victim, WATCHED_MS);
  const use = endUse();
  if (IS_PROFILED && attack)
    await profileProcess(`the API, ${names.join(', ')}`, system.pids.api ?? 0, async () => {
      seen = await watchVictim(system.baseUrl, victim, WATCHED_MS);
    });
  const loopStopMs = await readLoopStop(system.internalUrl);
  const told = (await attack?.stop()) ?? null;
  await sleep(RECOVERY_MS);
  const sheds = describeSheds(shedsBefore, await readSheds(system.internalUrl));
  return { ...seen, loopStopMs, memoryMb: [before, memoryMb(system)], told, use, sheds };
}

/** The product's processes, which serve the victim and the attacker alike. */
function pidsOf({
  pidOf,
}: BenchSystem): Record<'api' | 'worker' | 'temporal' | 'postgres' | 'sandbox', number> {
  const of = (part: Parameters<typeof pidOf>[0]): number => pidOf(part) ?? 0;
  return {
    api: of('api'),
    worker: of('worker'),
    temporal: of('temporal'),
    postgres: of('postgres'),
    sandbox: of('sandbox'),
  };
}

function describeSheds(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string {
  const counts = [...after].map(([reason, count]) => [reason, count - (before.get(reason) ?? 0)] as const);
  return JSON.stringify(Object.fromEntries(counts.filter(([, count]) => count > 0)));
}

/** `burned`: what one more busy process alone does to the victim, as the floor of time figures. */
function judge(
  verdict: Verdict,
  title: string,
  { beside, quiet, burned }: Record<'beside' | 'quiet' | 'burned', Measured>,
): void {
  const { calls, failed, firstFailure, loopStopMs, memoryMb: memory, told } = beside;
  const why = failed > 0 ? `, first ${firstFailure}` : '';
  verdict.exact(
    `${title}: every call of the victim succeeds`,
    failed === 0,
    `${calls - failed} of ${calls}${why}`,
  );
  if (told)
    verdict.atLeast(`${title}: share of the attack that was sent`, told.sent / told.planned, SENT_GOAL);
  const factorOf = ({ chatP99Ms, readP99Ms }: Measured): number =>
    Math.max(chatP99Ms / quiet.chatP99Ms, readP99Ms / quiet.readP99Ms);
  verdict.atMost(
    `${title}: p99 of the victim, as a multiple of the quiet one`,
    factorOf(beside),
    P99_FACTOR_GOAL,
    '',
    factorOf(burned).toFixed(2),
  );
  verdict.atMost(
    `${title}: longest stop of the event loop`,
    loopStopMs,
    LOOP_STOP_GOAL_MS,
    ' ms',
    `${burned.loopStopMs.toFixed(0)} ms`,
  );
  verdict.atMost(
    `${title}: memory that does not return`,
    memory[1] - memory[0],
    MEMORY_GROWTH_GOAL_MB,
    ' MB',
  );
}

function heading(): string[] {
  const times = ['chat p99 ms', 'read p99 ms', 'loop stop ms'];
  const attack = ['planned', 'sent', 'the attacker was answered', 'shed'];
  const processors = ['processors used, ms/s', 'waited for, ms/s'];
  return ['attack', 'victim’s calls', 'failed', ...times, 'MB before', 'MB after', ...attack, ...processors];
}

function describe(title: string, seen: Measured): string[] {
  const { calls, failed, chatP99Ms, readP99Ms, loopStopMs, memoryMb: memory, told, use, sheds } = seen;
  const figures = [calls, failed, chatP99Ms, readP99Ms, loopStopMs, ...memory];
  const attack = told
    ? [String(told.planned), String(told.sent), JSON.stringify(told.answers)]
    : ['', '', ''];
  const processors = [use.usedMs, use.waitedMs].map(describeTimes);
  return [title, ...figures.map((figure) => figure.toFixed(0)), ...attack, sheds, ...processors];
}

function describeTimes(times: Readonly<Record<string, number>>): string {
  return Object.entries(times)
    .map(([name, ms]) => `${name} ${ms.toFixed(0)}`)
    .join(', ');
}

function memoryMb(system: BenchSystem): number {
  const pid = system.pidOf('api');
  return pid === null ? Number.NaN : residentBytes(pid) / 1024 ** 2;
}

/** Creates a user with these credits and many keys, since the rate of chat calls is limited for each key. */
async function createUserKeys(system: BenchSystem, database: Database, credits: string): Promise<string[]> {
  const em = forkEm(database);
  const email = `bench-${crypto.randomUUID()}@example.com`;
  const userId = await insertUser(em, { email, passwordHash: 'none', permissions: [] });
  if (userId === null) throw new Error('a user of the bench could not be created');
  const granted = { userId, credits: parseCredits(credits), note: 'Bench credits' };
  await grantCredits(em, COMMAND_LINE, granted);
  const keys: string[] = [];
  for (let key = 0; key < KEYS_PER_USER; key += 1)
    keys.push((await createApiKey(em, system.secrets, { userId, name: `Bench ${key}` })).key);
  return keys;
}
