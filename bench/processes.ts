// Measures what processes use: processor time and resident memory, read from /proc (Linux only).
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const CLOCK_TICKS_PER_SECOND = 100;

/** Returns the user and system time of these processes and of all their children, in seconds. */
export function processorSeconds(pids: readonly number[]): number {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readStat(Number(name)));
  const parents = new Map(stats.map(({ pid, parent }) => [pid, parent]));
  const belongs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at))
      if (pids.includes(at)) return true;
    return false;
  };
  return stats.filter(({ pid }) => belongs(pid)).reduce((sum, { seconds }) => sum + seconds, 0);
}

/** Collects the processor time that each of these processes uses while pieces of work are done. */
export class ProcessorTimes {
  readonly #pids: Readonly<Record<string, number>>;
  readonly #seconds = new Map<string, number>();
  #pieces = 0;

  constructor(pids: Readonly<Record<string, number>>) {
    this.#pids = pids;
  }

  /** Does `pieces` pieces of work, and waits `settlingMs` for what they leave to do. */
  async during<Result>(pieces: number, settlingMs: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.#read();
    const result = await work();
    await sleep(settlingMs);
    const after = this.#read();
    for (const [name, seconds] of after)
      this.#seconds.set(name, (this.#seconds.get(name) ?? 0) + seconds - (before.get(name) ?? 0));
    this.#pieces += pieces;
    return result;
  }

  /** Milliseconds of one piece of work in this process. */
  msOf(name: string): number {
    return ((this.#seconds.get(name) ?? 0) * 1000) / this.#pieces;
  }

  #read(): Map<string, number> {
    return new Map(Object.entries(this.#pids).map(([name, pid]) => [name, processorSeconds([pid])]));
  }
}

/** Returns the resident memory of one process, in bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}

function readStat(pid: number): { pid: number; parent: number; seconds: number }[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]);
    return [{ pid, parent: Number(fields[1]), seconds: ticks / CLOCK_TICKS_PER_SECOND }];
  } catch {
    return []; // the process has just ended
  }
}
