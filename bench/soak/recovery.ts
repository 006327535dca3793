// Finds how long accepted tasks stayed open while nothing disturbed the system.
import type { Disturbance } from './faults.ts';

/** One attempt of a task from its acceptance to its end, in milliseconds since 1970. */
export interface Life {
  taskId: string;
  from: number;
  /** Null while it is open. */
  until: number | null;
}

/**
 * The longest time of one attempt between two disturbances: from the recovery, or from its acceptance if that
 * came later, to its end or to the next disturbance. `now` is when the attempts were read.
 */
export function findLongestOpen(
  lives: readonly Life[],
  disturbances: readonly Disturbance[],
  now: number,
): { taskId: string; seconds: number } | null {
  const quiet = findQuietTimes(disturbances, now);
  let longest: { taskId: string; seconds: number } | null = null;
  for (const { taskId, from, until } of lives)
    for (const time of quiet) {
      const seconds = (Math.min(until ?? now, time.until) - Math.max(from, time.from)) / 1000;
      if (seconds > (longest?.seconds ?? 0)) longest = { taskId, seconds };
    }
  return longest;
}

function findQuietTimes(disturbances: readonly Disturbance[], now: number): Disturbance[] {
  const begins = [0, ...disturbances.map(({ until }) => until)];
  const ends = [...disturbances.map(({ from }) => from), now];
  return begins.map((from, index) => ({ from, until: ends[index] ?? now }));
}
