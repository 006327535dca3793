// Counting towards a limit: a fixed window of points per key. A point is taken before the work, and can be given back.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** What did the counting; callers read it in X-RateLimit-Backend. */
export type LimitBackend = 'redis' | 'memory' | 'redis_unavailable';

export interface Bucket {
  /** Letters, digits and hyphens: it stands in headers. */
  name: string;
  points: number;
  seconds: number;
}

export interface Taken {
  isWithin: boolean;
  backend: LimitBackend;
  remaining: number;
  /** Until the window ends. */
  resetMs: number;
}

export interface Counter {
  bucket: Bucket;
  /** Takes a point, at once and whoever else is taking: that is what makes a limit hold in parallel. */
  take: (key: string) => Promise<Taken>;
  giveBack: (key: string) => Promise<void>;
}

export type CreateCounter = (bucket: Bucket) => Counter;

/** Counts in this process alone. */
export const createMemoryCounter: CreateCounter = (bucket) => {
  const limiter = new RateLimiterMemory({ points: bucket.points, duration: bucket.seconds });
  const giveBack = async (key: string): Promise<void> => {
    await limiter.reward(key);
  };
  return {
    bucket,
    take: async (key) => {
      try {
        return describe(await limiter.consume(key), true);
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        // What was refused was not used; else points given back later would be lost to it.
        await giveBack(key);
        return describe(refusal, false);
      }
    },
    giveBack,
  };
};

function describe(result: RateLimiterRes, isWithin: boolean): Taken {
  return { isWithin, backend: 'memory', remaining: result.remainingPoints, resetMs: result.msBeforeNext };
}
