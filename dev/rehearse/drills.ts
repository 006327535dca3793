// Disturbs containers while work goes on, and checks afterwards that no credit is wrong and no task is lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Terminal } from '../terminal.ts';
import type { Callers } from './callers.ts';
import { run } from './engine.ts';
import { PROJECT } from './files.ts';
import { countTasks, judgeEnd, type Settled } from './settled.ts';
import type { Stage } from './stage.ts';
import { startTraffic, type TrafficResult } from './traffic.ts';
import type { Account } from './walk.ts';

export interface DrillResult extends TrafficResult, Settled {
  name: string;
  /** What was done to the system. */
  about: string;
  /** Seconds from the end of the disturbance until all containers are healthy again. */
  healthySeconds: number;
}

interface Drill {
  name: string;
  about: string;
  disturb: (stage: Stage) => Promise<void>;
}

const WATCHED = [
  ...['api', 'second-api', 'worker', 'second-worker', 'postgres', 'redis', 'temporal'],
  ...['bucket', 'sandbox', 'vendors', 'proxy'],
];
const PAUSE_MS = 8_000;
const CUT_MS = 10_000;
const DOWN_MS = 1_000;
const BEFORE_MS = 4_000;
const AFTER_MS = 4_000;

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
  for (const drill of DRILLS.filter(({ name }) => wanted.test(name))) {
    const result = await terminal.step(drill.name, () => runDrill(drill, stage, callers, account));
    for (const problem of result.problems) terminal.warn(problem);
    results.push(result);
  }
  return results;
}

async function runDrill(
  { name, about, disturb }: Drill,
  stage: Stage,
  callers: Callers,
  account: Account,
): Promise<DrillResult> {
  const before = await countTasks(stage);
  const traffic = startTraffic(callers, account);
  await sleep(BEFORE_MS);
  const problems: string[] = [];
  let startedAt = performance.now();
  try {
    await disturb(stage);
    startedAt = performance.now();
    for (const service of WATCHED) await stage.untilHealthy(service);
  } catch (error) {
    problems.push(String(error));
  }
  const healthySeconds = (performance.now() - startedAt) / 1000;
  await sleep(AFTER_MS);
  const result = await traffic.stop();
  const settled = await judgeEnd(stage, result, before);
  problems.push(...settled.problems);
  return { ...result, ...settled, name, about, healthySeconds, problems };
}

function kill(service: string): Drill {
  return {
    name: `kill ${service}`,
    about: `SIGKILL to its process, started again after ${DOWN_MS / 1000} s`,
    // A container that was killed by hand is not restarted by its policy.
    disturb: async (stage) => {
      const name = await stage.container(service);
      await run('docker', ['kill', name]);
      await sleep(DOWN_MS);
      await run('docker', ['start', name]);
      // Who shares its network has to follow it.
      if (service === 'sandbox') await run('docker', ['restart', await stage.container('vendors')]);
    },
  };
}

function pause(service: string): Drill {
  return {
    name: `pause ${service}`,
    about: `frozen for ${PAUSE_MS / 1000} s, with its connections open`,
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
    about: 'stopped in order and started again',
    disturb: async (stage) => void (await stage.compose('restart', service)),
  };
}

function cut(service: string): Drill {
  return {
    name: `cut ${service} off`,
    about: `without a network for ${CUT_MS / 1000} s, while its process runs on`,
    disturb: async (stage) => {
      const name = await stage.container(service);
      const network = `${PROJECT}_default`;
      await run('docker', ['network', 'disconnect', network, name]);
      await sleep(CUT_MS);
      await run('docker', ['network', 'connect', '--alias', service, network, name]);
    },
  };
}
