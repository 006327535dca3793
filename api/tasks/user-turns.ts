// Limits how many creations of one user use the database at once, so that a burst delays no other user.
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/**
 * Simultaneous creations of one user. More would only wait for the lock on the user's account, each holding
 * a connection.
 */
const TURNS_PER_USER = 2;
/**
 * Users whose turns are counted. A user who is dropped while having turns may have twice as many for a
 * moment.
 */
const USERS_MAX = 10_000;

export interface UserTurns {
  /** Runs `work` when the user has a turn; the order is first come, first served. */
  take<Result>(userId: string, work: () => Promise<Result>): Promise<Result>;
}

export function createUserTurns(turnsPerUser: number = TURNS_PER_USER): UserTurns {
  const limits = new LRUCache<string, LimitFunction>({ max: USERS_MAX });
  return {
    take(userId, work) {
      const limit = limits.get(userId) ?? pLimit(turnsPerUser);
      limits.set(userId, limit);
      return limit(work);
    },
  };
}
