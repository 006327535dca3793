// Counts requests in fixed windows of points per key. Points are consumed before the work and refundable.
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
}

export type CreateCounter = (bucket: Bucket) => Counter;

/** Creates a counter in the memory of this process. */
export const createMemoryCounter: CreateCounter = (bucket) => {
  const limiter = new RateLimiterMemory({ points: bucket.points, duration: bucket.seconds });
  const refund = async (key: string): Promise<void> => {
    const state = await limiter.get(key);
    // After the window has ended, a reward would open a new one with a point too many.
    if (state && state.consumedPoints > 0) await limiter.reward(key);
  };
  return {
    bucket,
    consume: async (key) => {
      const result = await consumePoint(limiter, key);
      // The library counts refused requests too: without this, later refunds would not free a point.
      if (!result.isWithin) await refund(key);
      return toConsumeResult('memory', result, () => void refund(key));
    },
  };
};

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
