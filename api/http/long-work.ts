// Takes turns with work that holds the event loop for milliseconds: to parse, count or mask a long body.
import { setImmediate } from 'node:timers/promises';
import { LATE_WORK_TURN_LIMITS } from './turn-limits.ts';
import { createTurns, type EndTurn, type NoTurn, type Turns } from './turns.ts';

/** A shorter body holds the event loop for a millisecond or two, and takes no turn. */
export const LONG_BODY_BYTES = 64 * 1024;
/** So much of a body is looked at as it comes: a tenth of a millisecond, of the dearest bytes. */
const SCANNED_AT_ONCE_BYTES = 16 * 1024;

/** The work whose turn did not come in time: rounds of the event loop are the whole process's. */
const lateTurns = createTurns(LATE_WORK_TURN_LIMITS);

/**
 * Runs `work` in a turn of this user, in a round of the event loop of its own. Work whose turn did not come
 * in time runs all the same, beside the others: no request fails for it, and its settlement does not wait.
 */
export async function workInTurn<Result>(
  turns: Turns,
  userId: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const inTime = await turns.take(userId, NEVER);
  const turn = typeof inTime === 'string' ? await lateTurns.take(userId, NEVER) : inTime;
  try {
    await setImmediate();
    return await work();
  } finally {
    end(turn);
  }
}

/**
 * Returns what a chunk waits for before it is looked at, of a body of which so many bytes have come: a round
 * of the event loop in which few others are. Null when it may be looked at now.
 */
export function awaitScan(turns: Turns, userId: string, bytes: number): Promise<void> | null {
  if (bytes <= SCANNED_AT_ONCE_BYTES) return null;
  const now = turns.tryTake(userId);
  if (now === null) return turns.take(userId, NEVER).then(end);
  end(now);
  return null;
}

function end(turn: EndTurn | NoTurn): void {
  if (typeof turn !== 'string') turn();
}

const NEVER = new AbortController().signal;
