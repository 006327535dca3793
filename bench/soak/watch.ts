// Samples memory, open files and event loop delay of the processes during a soak, and judges them after it.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakSystem } from './system.ts';

export const WATCHED = ['api', 'second api', 'worker'] as const;
export type Watched = (typeof WATCHED)[number];

export interface Sample {
  part: Watched;
  pid: number;
  /** Time since the watch began; `ageSeconds` counts since this process was first seen. */
  atSeconds: number;
  ageSeconds: number;
  memoryMb: number;
  descriptors: number;
  /** The 99th percentile since the sample before; null when the process did not answer. */
  loopDelayMs: number | null;
}

export interface Thresholds {
  warmUpSeconds: number;
  /** Share by which the median of the last third may exceed the median of the first. */
  memoryGrowth: number;
  memoryGrowthMb: number;
  descriptorsGrowth: number;
  /** Limit of the median over the whole soak. */
  loopDelayMs: number;
}

export interface Judged {
  part: Watched;
  memoryMb: [first: number, last: number] | null;
  descriptors: [first: number, last: number] | null;
  loopDelayMs: number | null;
  problems: string[];
}

const LOOK_EVERY_MS = 2_000;
/** Fewest samples of one process that allow a judgement. */
const SAMPLES_MIN = 9;

/** Samples all processes until the signal is aborted. */
export async function watch(system: SoakSystem, signal: AbortSignal): Promise<Sample[]> {
  const samples: Sample[] = [];
  const firstSeen = new Map<number, number>();
  const beganAt = Date.now();
  while (!signal.aborted) {
    for (const part of WATCHED) {
      const pid = system.pid(part);
      if (pid === null) continue;
      const seenAt = firstSeen.get(pid) ?? Date.now();
      firstSeen.set(pid, seenAt);
      const used = readUse(pid);
      if (!used) continue;
      const loopDelayMs = await readLoopDelay(system.internalUrls[part]);
      const atSeconds = (Date.now() - beganAt) / 1000;
      samples.push({ part, pid, atSeconds, ageSeconds: (Date.now() - seenAt) / 1000, ...used, loopDelayMs });
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
  return samples;
}

/**
 * Judges of each part the process that was watched longest: its last third against its first, after
 * warm-up.
 */
export function judge(samples: readonly Sample[], thresholds: Thresholds): Judged[] {
  return WATCHED.map((part) => {
    const mine = samples.filter((sample) => sample.part === part);
    const warm = longest(mine).filter(({ ageSeconds }) => ageSeconds >= thresholds.warmUpSeconds);
    const delays = mine.flatMap(({ loopDelayMs }) => (loopDelayMs === null ? [] : [loopDelayMs]));
    const loopDelayMs = delays.length === 0 ? null : median(delays);
    const isEnough = warm.length >= SAMPLES_MIN;
    const memoryMb = isEnough ? thirds(warm.map((sample) => sample.memoryMb)) : null;
    const descriptors = isEnough ? thirds(warm.map((sample) => sample.descriptors)) : null;
    const judged = { part, memoryMb, descriptors, loopDelayMs };
    return { ...judged, problems: findProblems(judged, thresholds) };
  });
}

function findProblems(
  { part, memoryMb, descriptors, loopDelayMs }: Omit<Judged, 'problems'>,
  thresholds: Thresholds,
): string[] {
  const problems: string[] = [];
  if (memoryMb && memoryMb[1] > memoryMb[0] * (1 + thresholds.memoryGrowth) + thresholds.memoryGrowthMb)
    problems.push(`the memory of the ${part} grew from ${memoryMb[0]} to ${memoryMb[1]} MB`);
  if (descriptors && descriptors[1] > descriptors[0] + thresholds.descriptorsGrowth)
    problems.push(`the open files of the ${part} grew from ${descriptors[0]} to ${descriptors[1]}`);
  if (loopDelayMs !== null && loopDelayMs > thresholds.loopDelayMs)
    problems.push(`the event loop of the ${part} is late by ${loopDelayMs} ms`);
  return problems;
}

/** Reads memory and open files from /proc (Linux only); null for a process that has just ended. */
function readUse(pid: number): { memoryMb: number; descriptors: number } | null {
  try {
    const memory = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    if (!memory) return null;
    return {
      memoryMb: Math.round(Number(memory[1]) / 1024),
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
    };
  } catch {
    return null;
  }
}

async function readLoopDelay(internalUrl: string): Promise<number | null> {
  try {
    const response = await fetch(`${internalUrl}/metrics`, { signal: AbortSignal.timeout(1_000) });
    const found = /^nodejs_eventloop_lag_p99_seconds ([\d.e+-]+)$/m.exec(await response.text());
    return found ? Math.round(Number(found[1]) * 1000) : null;
  } catch {
    return null; // the process hangs, or has been killed
  }
}

function longest(samples: readonly Sample[]): Sample[] {
  const byPid = Map.groupBy(samples, ({ pid }) => pid);
  return [...byPid.values()].reduce<Sample[]>((best, one) => (one.length > best.length ? one : best), []);
}

function thirds(values: readonly number[]): [first: number, last: number] {
  const third = Math.floor(values.length / 3);
  return [median(values.slice(0, third)), median(values.slice(-third))];
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
