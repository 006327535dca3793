// Counting towards a limit: a fixed window of points per key. A point is taken before the work, and can be given back.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Bucket } from './buckets.ts';
import type { LimitBackend, QuotaState } from './headers.ts';

export interface Taken extends QuotaState {
  /** `unavailable`: nobody could count, and without that nobody may pass. */
  verdict: 'within' | 'over' | 'unavailable';
  backend: LimitBackend;
  /** Undoes it, where it was counted, if it was. Does not wait, and a fault of the backend only costs the point. */
  giveBack: () => void;
}

export interface Counter {
  bucket: Bucket;
  /**
   * Takes a point, at once and whoever else is taking: that is what makes a limit hold in parallel. Never throws.
   * `soFar` is what counted this request's earlier points: who found Redis away once does not wait for it again.
   */
  take: (key: string, soFar?: LimitBackend) => Promise<Taken>;
}

export type CreateCounter = (bucket: Bucket) => Counter;

/** Counts in this process alone. */
export const createMemoryCounter: CreateCounter = (bucket) => {
  const limiter = new RateLimiterMemory({ points: bucket.points, duration: bucket.seconds });
  const giveBack = async (key: string): Promise<void> => {
    const state = await limiter.get(key);
    // A window that ended meanwhile stays ended: the point would be one too many in the next.
    if (state && state.consumedPoints > 0) await limiter.reward(key);
  };
  return {
    bucket,
    take: async (key) => {
      const result = await consume(limiter, key);
      // What was refused was not used; else points given back later would be lost to it.
      if (!result.isWithin) await giveBack(key);
      return describeTaken('memory', result, () => void giveBack(key));
    },
  };
};

export interface Consumed {
  isWithin: boolean;
  state: RateLimiterRes;
}

/** Throws only when the store failed: the library rejects with its own kind of object when the limit is reached. */
export async function consume(
  limiter: { consume: (key: string) => Promise<RateLimiterRes> },
  key: string,
): Promise<Consumed> {
  try {
    return { isWithin: true, state: await limiter.consume(key) };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { isWithin: false, state: refusal };
  }
}

export function describeTaken(
  backend: LimitBackend,
  { isWithin, state }: Consumed,
  giveBack: () => void,
): Taken {
  const { remainingPoints: remaining, msBeforeNext: resetMs } = state;
  if (isWithin) return { verdict: 'within', backend, remaining, resetMs, giveBack };
  return { verdict: 'over', backend, remaining: 0, resetMs, giveBack: () => undefined };
}
