// Takes turns with work that holds the event loop for milliseconds: to parse, count or mask a long body.
import { setImmediate } from 'node:timers/promises';
import type { Turns } from './turns.ts';

/** A shorter body holds the event loop for a millisecond or two, and takes no turn. */
export const LONG_BODY_BYTES = 64 * 1024;

export interface LongWorkTurns {
  /** One at a time. */
  longWorkTurns: Turns;
  /** Of the work whose turn did not come in time. */
  lateWorkTurns: Turns;
}

/**
 * Runs `work` in a turn of this user, in a round of the event loop of its own. Work whose turn did not come
 * in time runs all the same, beside the others: no request fails for it, and its settlement does not wait.
 */
export async function workInTurn<Result>(
  { longWorkTurns, lateWorkTurns }: LongWorkTurns,
  userId: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const inTime = await longWorkTurns.take(userId, NEVER);
  const turn = typeof inTime === 'string' ? await lateWorkTurns.take(userId, NEVER) : inTime;
  try {
    await setImmediate();
    return await work();
  } finally {
    if (typeof turn !== 'string') turn();
  }
}

/** For what waits for its turn although its caller may have left. */
export const NEVER = new AbortController().signal;
