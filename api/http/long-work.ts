// Takes turns with work that holds the event loop for milliseconds: to parse, count or mask a long body.
import { setImmediate } from 'node:timers/promises';
import type { Turns } from './turns.ts';

/** A shorter body holds the event loop for a millisecond or two, and takes no turn. */
export const LONG_BODY_BYTES = 64 * 1024;

/**
 * Runs `work` in a turn of this user, in a round of the event loop of its own. Work whose turn did not come
 * in time runs all the same: no request fails for it, and its settlement does not wait.
 */
export async function workInTurn<Result>(
  turns: Turns,
  userId: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const turn = await turns.take(userId, NEVER);
  try {
    await setImmediate();
    return await work();
  } finally {
    if (typeof turn !== 'string') turn();
  }
}

const NEVER = new AbortController().signal;
