// Disturbs containers while work goes on, and checks afterwards that no credit is wrong and no task is lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from '../terminal.ts';
import type { Callers } from './callers.ts';
import { run } from './engine.ts';
import { PROJECT } from './files.ts';
import type { Stage } from './stage.ts';
import { startTraffic, type TrafficResult } from './traffic.ts';
import type { Account } from './walk.ts';

export interface DrillResult extends TrafficResult {
  name: string;
  /** Seconds from the end of the disturbance until all containers are healthy again. */
  healthySeconds: number;
  /** Seconds from then until no task and no reservation is open. */
  settledSeconds: number;
  problems: readonly string[];
}

interface Drill {
  name: string;
  disturb: (stage: Stage) => Promise<void>;
}

const WATCHED = ['api', 'second-api', 'worker', 'second-worker', 'postgres', 'redis', 'temporal'];
const PAUSE_MS = 8_000;
const CUT_MS = 10_000;
const BEFORE_MS = 2_000;
const AFTER_MS = 2_000;
const SETTLED_MS_MAX = 120_000;
const LOOK_EVERY_MS = 500;
/** Bookings of the ledger, open work, and what is doubled or missing. */
const CHECK = `
  select (select count(*) from task where status in ('queued', 'in_progress'))
         + (select count(*) from task_attempt where state = 'open')
         + (select count(*) from chat_call where status = 'open'),
         (select count(*) from task where status = 'completed'),
         (select count(*) from task_attempt where state = 'charged')`;

const DRILLS: readonly Drill[] = [
  ...['api', 'worker', 'temporal', 'redis', 'postgres', 'sandbox', 'bucket'].map(kill),
  ...['api', 'worker', 'temporal', 'redis', 'postgres', 'bucket'].map(pause),
  ...['postgres', 'temporal', 'api', 'worker'].map(restart),
  ...['postgres', 'temporal', 'redis', 'bucket'].map(cut),
];

/** Runs every drill, or those whose names match the expression in REHEARSE_DRILLS. */
export async function runDrills(
  stage: Stage,
  callers: Callers,
  account: Account,
  terminal: Terminal,
): Promise<DrillResult[]> {
  const wanted = new RegExp(process.env['REHEARSE_DRILLS'] ?? '');
  const results: DrillResult[] = [];
  for (const drill of DRILLS.filter(({ name }) => wanted.test(name)))
    results.push(await terminal.step(drill.name, () => runDrill(drill, stage, callers, account)));
  return results;
}

async function runDrill(
  drill: Drill,
  stage: Stage,
  callers: Callers,
  account: Account,
): Promise<DrillResult> {
  const traffic = startTraffic(callers, account);
  await sleep(BEFORE_MS);
  const problems: string[] = [];
  let startedAt = performance.now();
  try {
    await drill.disturb(stage);
    startedAt = performance.now();
    for (const service of WATCHED) await stage.untilHealthy(service);
  } catch (error) {
    problems.push(String(error));
  }
  const healthySeconds = (performance.now() - startedAt) / 1000;
  await sleep(AFTER_MS);
  const result = await traffic.stop();
  const settledAt = performance.now();
  problems.push(...(await untilSettled(stage, result.accepted)));
  const settledSeconds = (performance.now() - settledAt) / 1000;
  return {
    ...result,
    name: drill.name,
    healthySeconds,
    settledSeconds,
    problems: problems.map((problem) => `${drill.name}: ${problem}`),
  };
}

/** Waits until nothing is open, then checks the money with the documented command. Returns what is wrong. */
async function untilSettled(stage: Stage, accepted: readonly string[]): Promise<string[]> {
  const until = Date.now() + SETTLED_MS_MAX;
  let [open, completed, charged] = [1, 0, 0];
  while (open > 0 && Date.now() < until) {
    [open = 1, completed = 0, charged = 0] = (await stage.sql(CHECK)).split('|').map(Number);
    if (open > 0) await sleep(LOOK_EVERY_MS);
  }
  const problems: string[] = [];
  if (open > 0) problems.push(`${open} tasks or reservations are open after ${SETTLED_MS_MAX / 1000} s`);
  if (completed !== charged) problems.push(`${completed} tasks are completed, ${charged} are charged`);
  const ids = accepted.map((id) => `'${id}'`).join(', ');
  const found = ids === '' ? '0' : await stage.sql(`select count(*) from task where id in (${ids})`);
  if (Number(found) !== accepted.length)
    problems.push(`of ${accepted.length} accepted tasks ${found} are there`);
  await stage
    .compose('run', '--rm', '-T', '--no-deps', 'migrate', 'node', 'cli/db.ts', 'check')
    .catch((error: unknown) => problems.push(`the check of the ledger: ${String(error)}`));
  return problems;
}

function kill(service: string): Drill {
  return {
    name: `kill ${service}`,
    // A container that was killed by hand is not restarted by its policy.
    disturb: async (stage) => {
      const name = await stage.container(service);
      await run('docker', ['kill', name]);
      await sleep(1_000);
      await run('docker', ['start', name]);
      // Who shares its network has to follow it.
      if (service === 'sandbox') await run('docker', ['restart', await stage.container('vendors')]);
    },
  };
}

function pause(service: string): Drill {
  return {
    name: `pause ${service} for ${PAUSE_MS / 1000} s`,
    disturb: async (stage) => {
      const name = await stage.container(service);
      await run('docker', ['pause', name]);
      await sleep(PAUSE_MS);
      await run('docker', ['unpause', name]);
    },
  };
}

function restart(service: string): Drill {
  return {
    name: `restart ${service}`,
    disturb: async (stage) => void (await stage.compose('restart', service)),
  };
}

function cut(service: string): Drill {
  return {
    name: `cut ${service} off for ${CUT_MS / 1000} s`,
    disturb: async (stage) => {
      const name = await stage.container(service);
      const network = `${PROJECT}_default`;
      await run('docker', ['network', 'disconnect', network, name]);
      await sleep(CUT_MS);
      await run('docker', ['network', 'connect', '--alias', service, network, name]);
    },
  };
}
