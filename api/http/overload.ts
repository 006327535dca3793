// Decides whether the process can take another request, before anything of the request is read.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { constrainedMemory, memoryUsage } from 'node:process';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { Tally } from '../../domain/tally.ts';

export type Shortage = 'in_flight' | 'event_loop' | 'database' | 'memory';

export interface OverloadLimits {
  inFlightMax: number;
  /**
   * Longest delay of the event loop, as the 99th percentile of a window of one second. Two such windows in
   * a row are overload.
   */
  delayMs: number;
  /** Most requests that may wait for a database connection. */
  databaseWaitersMax: number;
  /** Largest share of the memory that this process may use, from 0 to 1. */
  memoryShareMax: number;
}

/** The measurements that the guard reads; tests replace them. */
export interface LoadSigns {
  databaseWaiters: () => number;
  /** The share of the allowed memory that is in use, from 0 to 1. */
  memoryShare: () => number;
  /** Returns the event loop's delay in the last window, and begins a new window. */
  takeDelayMs: () => number;
}

/** The place of an admitted request. */
export interface Seat {
  /**
   * Counts the request among those of `subject` from now on, once it is known whose it is. Answers what is
   * short for this subject; null when the request may go on.
   */
  belongTo(subject: string): Shortage | null;
  /** Frees the place. */
  leave(): void;
  /** Gives the place up while the request only waits, and returns the function that takes it again. */
  rest(): () => void;
}

export interface OverloadGuard {
  /** Admits a request, or names what is short. `subject` tells callers apart, however roughly. */
  enter(subject: string): Seat | Shortage;
  stop(): void;
}

const WINDOW_MS = 1_000;
const DATABASE_WAITERS_MAX = 500;
const MEMORY_SHARE_MAX = 0.8;
/**
 * Requests in flight up to which a subject is served while the event loop is late or many wait for the
 * database: who sends one request after the other must not suffer from a burst of another caller.
 */
const SHARE = 8;
/** Requests in flight, each subject counted up to its share, with which the load is that of many callers. */
const SHARES_MAX = 64;
/** Interval of the delay's samples: about a hundred in a window. */
const DELAY_RESOLUTION_MS = 10;

export function overloadLimits(settings: { inFlightMax: number; delayMs: number }): OverloadLimits {
  return { ...settings, databaseWaitersMax: DATABASE_WAITERS_MAX, memoryShareMax: MEMORY_SHARE_MAX };
}

/**
 * Creates the guard. A subject may have as many requests in flight as places are free, so that one alone gets
 * half of them. Memory and delay are measured once a second; one late second, such as after a big body, is no
 * overload yet. While the event loop is late or many wait for the database, the subjects with many requests
 * are refused; the others only if they are the many.
 */
export function createOverloadGuard(limits: OverloadLimits, signs: LoadSigns): OverloadGuard {
  let inFlight = 0;
  /** The sum over all subjects of their requests in flight, each up to SHARE. */
  let shares = 0;
  const inFlightOf = new Tally();
  let lateWindows = 0;
  let isMemoryShort = false;
  const timer = setInterval(() => {
    lateWindows = signs.takeDelayMs() > limits.delayMs ? lateWindows + 1 : 0;
    isMemoryShort = signs.memoryShare() > limits.memoryShareMax;
  }, WINDOW_MS);
  timer.unref();

  function findShortage(subject: string): Shortage | null {
    const own = inFlightOf.of(subject);
    if (own >= limits.inFlightMax - inFlight) return 'in_flight';
    const isHeavy = own >= SHARE || shares >= SHARES_MAX;
    if (isHeavy && lateWindows >= 2) return 'event_loop';
    if (isHeavy && signs.databaseWaiters() > limits.databaseWaitersMax) return 'database';
    return isMemoryShort ? 'memory' : null;
  }

  function add(subject: string): void {
    if (inFlightOf.of(subject) < SHARE) shares += 1;
    inFlightOf.add(subject, 1);
    inFlight += 1;
  }

  function remove(subject: string): void {
    inFlightOf.add(subject, -1);
    inFlight -= 1;
    if (inFlightOf.of(subject) < SHARE) shares -= 1;
  }

  return {
    enter: (subject) => {
      const shortage = findShortage(subject);
      if (shortage !== null) return shortage;
      add(subject);
      return createSeat(subject, { add, remove, findShortage });
    },
    stop: () => clearInterval(timer),
  };
}

interface Seats {
  add(subject: string): void;
  remove(subject: string): void;
  findShortage(subject: string): Shortage | null;
}

/** Measures this process. */
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
      // A loop that is late by more than a window leaves no sample in it; then the window itself is late.
      const windowLateMs = now - windowBeganAt - WINDOW_MS;
      const delayMs = Math.max(delay.percentile(99) / 1e6 - DELAY_RESOLUTION_MS, windowLateMs);
      delay.reset();
      windowBeganAt = now;
      return delayMs;
    },
  };
}

function createSeat(firstSubject: string, { add, remove, findShortage }: Seats): Seat {
  let subject = firstSubject;
  let state: 'taken' | 'resting' | 'left' = 'taken';
  const change = (from: typeof state, to: typeof state, move: (subject: string) => void): void => {
    if (state !== from) return;
    state = to;
    move(subject);
  };
  return {
    belongTo: (next) => {
      if (state !== 'taken') return null;
      remove(subject);
      const shortage = findShortage(next);
      subject = next;
      add(subject);
      return shortage;
    },
    leave: () => {
      change('taken', 'left', remove);
      state = 'left';
    },
    rest: () => {
      change('taken', 'resting', remove);
      return () => change('resting', 'taken', add);
    },
  };
}
