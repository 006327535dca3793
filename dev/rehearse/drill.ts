// One drill: the stage is disturbed while work goes on, and what callers saw and what is left is judged.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Callers } from './callers.ts';
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

export interface Drill {
  name: string;
  about: string;
  disturb: (stage: Stage) => Promise<void>;
  /** Services that have to be healthy again beside those that every stage has. */
  watched?: readonly string[];
}

/** Services that have to be healthy again after each disturbance. */
export const WATCHED = [
  ...['api', 'second-api', 'worker', 'second-worker', 'postgres', 'redis', 'temporal'],
  ...['bucket', 'sandbox', 'vendors', 'proxy'],
];
const BEFORE_MS = 4_000;
const AFTER_MS = 4_000;

/**
 * Disturbs the stage under traffic and judges the end. `ordered` is how many tasks the disturbance itself
 * orders.
 */
export async function runDrill(
  { name, about, disturb, watched = [] }: Drill,
  stage: Stage,
  callers: Callers,
  account: Pick<Account, 'apiKey'>,
  ordered = 0,
): Promise<DrillResult> {
  const before = (await countTasks(stage)) + ordered;
  const traffic = startTraffic(callers, account);
  await sleep(BEFORE_MS);
  const problems: string[] = [];
  let startedAt = performance.now();
  try {
    await disturb(stage);
    startedAt = performance.now();
    for (const service of [...WATCHED, ...watched]) await stage.untilHealthy(service);
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
