// Measures what processes use of the processors beside an attack, and how long others wait for theirs.
import { readFileSync } from 'node:fs';
import { processorSeconds } from '../processes.ts';

/** Milliseconds in each second. */
export interface ProcessorUse {
  /** Processor time of all threads, by the name of the process. */
  usedMs: Readonly<Record<string, number>>;
  /** How long the main thread was ready and another one ran in its place, by the name of the process. */
  waitedMs: Readonly<Record<string, number>>;
}

/** Begins to measure; the function returned ends it. `awaited`: whose waiting is measured as well. */
export function beginProcessorUse(
  pids: Readonly<Record<string, number>>,
  awaited: Readonly<Record<string, number>>,
): () => ProcessorUse {
  const used = (): Map<string, number> => readAll(pids, (pid) => processorSeconds([pid]) * 1000);
  const waited = (): Map<string, number> => readAll(awaited, readWaitedMs);
  const before = { used: used(), waited: waited() };
  const beganAt = performance.now();
  return () => {
    const seconds = (performance.now() - beganAt) / 1000;
    return {
      usedMs: perSecond(before.used, used(), seconds),
      waitedMs: perSecond(before.waited, waited(), seconds),
    };
  };
}

function readAll(pids: Readonly<Record<string, number>>, read: (pid: number) => number): Map<string, number> {
  return new Map(Object.entries(pids).map(([name, pid]) => [name, read(pid)]));
}

function perSecond(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  seconds: number,
): Record<string, number> {
  const entries = [...after].map(([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / seconds] as const);
  return Object.fromEntries(entries);
}

/** Linux only: the second figure of `schedstat` is the time on a run queue, in nanoseconds. */
function readWaitedMs(pid: number): number {
  const [, waitedNs = Number.NaN] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')
    .split(' ')
    .map(Number);
  return waitedNs / 1e6;
}
