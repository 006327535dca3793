// Counts requests in fixed windows of points per key. Points are consumed before the work and refundable.
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Bucket } from './buckets.ts';
import type { LimitBackend, QuotaState } from './headers.ts';

export interface ConsumeResult extends QuotaState {
  /** `unavailable`: Redis is required and does not count, so the request may not pass. */
  verdict: 'within' | 'over' | 'unavailable';
  backend: LimitBackend;
  /**
   * Gives the point back to the store that counted it; does nothing when the request was refused. Returns at
   * once; when the store fails, the point stays consumed.
   */
  refund: () => void;
}

export interface Counter {
  bucket: Bucket;
  /**
   * Consumes a point atomically, so that parallel requests cannot exceed the limit. Never throws. `countedBy`
   * is the store that counted earlier points of the same request: after Redis failed once, the request does
   * not wait for it again.
   */
  consume: (key: string, countedBy?: LimitBackend) => Promise<ConsumeResult>;
  /**
   * Whether this process was told of a refusal whose window has not ended: a hint, as points may have been
   * given back since.
   */
  seemsSpent: (key: string) => boolean;
}

export type CreateCounter = (bucket: Bucket) => Counter;

/** Spent keys that are remembered in each bucket; to forget one costs a lookup. */
const SPENT_MAX = 10_000;

/** Creates a counter that consumes by `consume`, and remembers what was refused. */
export function createCounter(bucket: Bucket, consume: Counter['consume']): Counter {
  const spent = new LRUCache<string, true>({ max: SPENT_MAX });
  return {
    bucket,
    consume: async (key, countedBy) => {
      const result = await consume(key, countedBy);
      if (result.verdict === 'over') spent.set(key, true, { ttl: Math.max(1, result.resetMs) });
      else if (spent.size > 0) spent.delete(key);
      return result;
    },
    seemsSpent: (key) => spent.size > 0 && spent.has(key),
  };
}

/** Creates a function that consumes points in the memory of this process. */
export function consumeInMemory(bucket: Bucket): Counter['consume'] {
  const limiter = new RateLimiterMemory({ points: bucket.points, duration: bucket.seconds });
  const refund = async (key: string): Promise<void> => {
    const state = await limiter.get(key);
    // After the window has ended, a reward would open a new one with a point too many.
    if (state && state.consumedPoints > 0) await limiter.reward(key);
  };
  return async (key) => {
    const result = await consumePoint(limiter, key);
    // The library counts refused requests too: without this, later refunds would not free a point.
    if (!result.isWithin) await refund(key);
    return toConsumeResult('memory', result, () => void refund(key));
  };
}

/** The state of a key's window after consuming a point. */
export interface WindowResult {
  isWithin: boolean;
  state: RateLimiterRes;
}

/**
 * Consumes a point. Throws only when the store fails: the library rejects with a RateLimiterRes when the
 * limit is reached.
 */
export async function consumePoint(
  limiter: { consume: (key: string) => Promise<RateLimiterRes> },
  key: string,
): Promise<WindowResult> {
  try {
    return { isWithin: true, state: await limiter.consume(key) };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    return { isWithin: false, state: refusal };
  }
}

export function toConsumeResult(
  backend: LimitBackend,
  { isWithin, state }: WindowResult,
  refund: () => void,
): ConsumeResult {
  const { remainingPoints: remaining, msBeforeNext: resetMs } = state;
  if (isWithin) return { verdict: 'within', backend, remaining, resetMs, refund };
  return { verdict: 'over', backend, remaining: 0, resetMs, refund: () => undefined };
}
