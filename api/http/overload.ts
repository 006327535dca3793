// Is there room for another request? Asked before anything of it is read, so that saying no costs next to
// nothing.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { constrainedMemory, memoryUsage } from 'node:process';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

export type Shortage = 'in_flight' | 'event_loop' | 'database' | 'memory';

export interface OverloadLimits {
  inFlightMax: number;
  /** How late the event loop may be in two windows of a second, one after the other: its 99th percentile. */
  delayMs: number;
  /** Requests that wait for a database connection. */
  databaseWaitersMax: number;
  /** Of what this process may use, from 0 to 1. */
  memoryShareMax: number;
}

/** What is looked at; tests play it. */
export interface LoadSigns {
  databaseWaiters: () => number;
  /** From 0 to 1. */
  memoryShare: () => number;
  /** The delay of the last window; begins a new one. */
  takeDelayMs: () => number;
}

export interface OverloadGuard {
  /** Admits a request and returns null, or names what is short. Each admitted request has to call `leave`. */
  enter(): Shortage | null;
  leave(): void;
  stop(): void;
}

const WINDOW_MS = 1_000;
const DATABASE_WAITERS_MAX = 500;
const MEMORY_SHARE_MAX = 0.8;
/** Long enough for a sample a hundred times in a window. */
const DELAY_RESOLUTION_MS = 10;

export function overloadLimits(settings: { inFlightMax: number; delayMs: number }): OverloadLimits {
  return { ...settings, databaseWaitersMax: DATABASE_WAITERS_MAX, memoryShareMax: MEMORY_SHARE_MAX };
}

/**
 * Memory and delay are looked at once a second; one late second, such as after a big body, is no overload
 * yet.
 */
export function createOverloadGuard(limits: OverloadLimits, signs: LoadSigns): OverloadGuard {
  let inFlight = 0;
  let lateWindows = 0;
  let isMemoryShort = false;
  const timer = setInterval(() => {
    lateWindows = signs.takeDelayMs() > limits.delayMs ? lateWindows + 1 : 0;
    isMemoryShort = signs.memoryShare() > limits.memoryShareMax;
  }, WINDOW_MS);
  timer.unref();

  function findShortage(): Shortage | null {
    if (inFlight >= limits.inFlightMax) return 'in_flight';
    if (lateWindows >= 2) return 'event_loop';
    if (signs.databaseWaiters() > limits.databaseWaitersMax) return 'database';
    return isMemoryShort ? 'memory' : null;
  }

  return {
    enter: () => {
      const shortage = findShortage();
      if (shortage === null) inFlight += 1;
      return shortage;
    },
    leave: () => {
      inFlight -= 1;
    },
    stop: () => clearInterval(timer),
  };
}

/** Of this process. */
export function watchLoad(databaseWaiters: () => number): LoadSigns {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
  delay.enable();
  const memoryBytesMax = Math.min(constrainedMemory() || Infinity, totalmem());
  const heapBytesMax = getHeapStatistics().heap_size_limit;
  let windowBeganAt = performance.now();
  return {
    databaseWaiters,
    memoryShare: () =>
      Math.max(memoryUsage.rss() / memoryBytesMax, getHeapStatistics().used_heap_size / heapBytesMax),
    takeDelayMs: () => {
      const now = performance.now();
      // A loop that is later than a whole window leaves no sample in it; then the window itself is late.
      const windowLateMs = now - windowBeganAt - WINDOW_MS;
      const delayMs = Math.max(delay.percentile(99) / 1e6 - DELAY_RESOLUTION_MS, windowLateMs);
      delay.reset();
      windowBeganAt = now;
      return delayMs;
    },
  };
}
