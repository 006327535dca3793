// Runs a soak: steady mixed load on the whole product, with faults drawn from one seed, and judges it.
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../db/open-database.ts';
import { createPeople } from './accounts.ts';
import { createCaller, type Counts } from './caller.ts';
import { injectFaults, type Disturbance } from './faults.ts';
import { createChance } from './random.ts';
import { checkSettled, type Ended } from './settled.ts';
import type { FaultKind, SoakSystem } from './system.ts';
import { createTraffic, type Traffic } from './traffic.ts';
import { judge, watch, type Judged, type Thresholds } from './watch.ts';

export interface SoakPlan {
  seed: number;
  seconds: number;
  /** Load as a share of the measured peak. */
  load: number;
  faults: FaultKind;
  faultPauseSeconds: [from: number, to: number];
  /** Seconds in which the peak is measured before the soak. */
  peakSeconds: number;
  /** Seconds after the last request within which everything must have ended. */
  settleSeconds: number;
  thresholds: Thresholds;
  /** Called every ten seconds with a line about the progress. */
  say(line: string): void;
}

export interface SoakReport {
  peakPerSecond: number;
  counts: Counts;
  played: Map<string, number>;
  /** Orders of tasks that were accepted. */
  orders: number;
  faults: Map<string, number>;
  disturbances: readonly Disturbance[];
  judged: Judged[];
  ended: Ended;
  /** All violations of what the soak requires; empty when the soak was passed. */
  problems: string[];
}

const PEOPLE = 20;
const PEAK_CONCURRENCY = 60;
/** Most stories at once: the machine cannot follow more, and further ones are left out. */
const RUNNING_MAX = 150;
const SAY_EVERY_MS = 10_000;

/** Plays a soak on a system that runs, and stops it. */
export async function soak(plan: SoakPlan, system: SoakSystem): Promise<SoakReport> {
  const database = openDatabase({ url: system.databaseUrl, connectionsMax: 4 });
  try {
    const chance = createChance(plan.seed);
    const people = await createPeople(database, system.secrets, PEOPLE);
    const caller = createCaller(system.baseUrls);
    const traffic = createTraffic(caller, chance.split(), people);
    const peakPerSecond = await measurePeak(traffic, plan.peakSeconds);
    plan.say(`peak ${peakPerSecond.toFixed(1)} stories/s; ${plan.seconds} s at ${plan.load} of it`);

    const ending = new AbortController();
    const watching = watch(system.internalUrls, ending.signal);
    const signal = ending.signal;
    const injecting = injectFaults(system, chance.split(), {
      ...{ kind: plan.faults, seconds: plan.seconds, pauseSeconds: plan.faultPauseSeconds, signal },
    });
    await runSteadily(plan, traffic, caller.counts, peakPerSecond * plan.load);
    ending.abort();
    const { faults, disturbances, problems: unhealed } = await injecting;
    const judged = judge(await watching, Object.keys(system.internalUrls), plan.thresholds);
    plan.say('the last request is answered; waiting until everything has ended');
    const userIds = people.callers.map(({ userId }) => userId);
    const expected = { ordered: traffic.ordered, userIds, disturbances };
    const ended = await checkSettled(database, expected, plan.settleSeconds);
    const { counts } = caller;
    const problems = [
      ...unhealed,
      ...[...counts.broken].map(([what, times]) => `${times} × ${what}`),
      ...judged.flatMap((one) => one.problems),
      ...ended.problems,
    ];
    const { played, ordered } = traffic;
    const orders = ordered.answered;
    return { peakPerSecond, counts, played, orders, faults, disturbances, judged, ended, problems };
  } finally {
    await database.close();
    await system.stop();
  }
}

/** Measures the stories per second at a fixed concurrency. */
async function measurePeak(traffic: Traffic, seconds: number): Promise<number> {
  const startedAt = Date.now();
  let played = 0;
  const play = async (): Promise<void> => {
    while (Date.now() - startedAt < seconds * 1000) {
      await traffic.play();
      played += 1;
    }
  };
  await Promise.all(Array.from({ length: PEAK_CONCURRENCY }, play));
  return (played * 1000) / (Date.now() - startedAt);
}

/** Starts stories at an even rate, whether or not earlier ones have ended. */
async function runSteadily(
  plan: SoakPlan,
  traffic: Traffic,
  counts: Counts,
  perSecond: number,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const startedAt = Date.now();
  let saidAt = startedAt;
  let started = 0;
  while (Date.now() - startedAt < plan.seconds * 1000) {
    const due = Math.floor(((Date.now() - startedAt) / 1000) * perSecond);
    for (; started < due; started += 1) {
      if (running.size >= RUNNING_MAX) continue; // this story is left out, not caught up with
      const story: Promise<void> = traffic.play().finally(() => running.delete(story));
      running.add(story);
    }
    if (Date.now() - saidAt >= SAY_EVERY_MS) {
      saidAt = Date.now();
      const seconds = Math.round((saidAt - startedAt) / 1000);
      plan.say(
        `${seconds} s: ${counts.requests} requests, ${counts.unanswered} without an answer, ${running.size} stories running, ${counts.broken.size} kinds of trouble`,
      );
    }
    await sleep(20);
  }
  await Promise.all(running);
}
