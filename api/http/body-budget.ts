// Bounds the bytes that bodies take together: many, each within its own limit, would be too many.
import { Tally } from '../../domain/tally.ts';

export interface BodyBudget {
  /** Reserves bytes and returns the function that releases them; null when the budget is used up. */
  reserve(callerId: string, bytes: number): (() => void) | null;
}

export interface BodyBudgetLimits {
  bytesMax: number;
  /** The share of one caller, so that a slow one does not block all others. */
  bytesPerCallerMax: number;
  /**
   * Whether a caller may hold no more than is still free, as with connections (`FairShare`): of a budget that
   * few callers would take whole, the next ones get less and less, but some.
   */
  holdsAtMostFree?: boolean;
}

/**
 * The budget of JSON bodies, of which no user holds more than half. A body takes about four times its length
 * in memory while it is parsed.
 */
export const BODY_BUDGET: Readonly<BodyBudgetLimits> = {
  bytesMax: 256 * 1024 ** 2,
  bytesPerCallerMax: 128 * 1024 ** 2,
};

export function createBodyBudget(limits: BodyBudgetLimits): BodyBudget {
  const { bytesMax, bytesPerCallerMax, holdsAtMostFree = false } = limits;
  let taken = 0;
  const takenBy = new Tally();

  const add = (callerId: string, bytes: number): void => {
    taken += bytes;
    takenBy.add(callerId, bytes);
  };
  return {
    reserve: (callerId, bytes) => {
      const own = takenBy.of(callerId) + bytes;
      const free = bytesMax - taken - bytes;
      if (free < 0 || own > bytesPerCallerMax || (holdsAtMostFree && own > free)) return null;
      add(callerId, bytes);
      let isReleased = false;
      return () => {
        if (!isReleased) add(callerId, -bytes);
        isReleased = true;
      };
    },
  };
}
