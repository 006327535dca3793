// Turns at the database: of one user's creations only a few are there at once, so that a burst delays no
// other user.
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** More would only wait for each other's lock on the user's account, each with a connection in its hands. */
const TURNS_PER_USER = 2;
/**
 * Users whose turns are counted. One that is forgotten while it has turns may have twice as many for a
 * moment.
 */
const USERS_MAX = 10_000;

export interface UserTurns {
  /** Runs the work when the user has a turn, first come, first served. */
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
