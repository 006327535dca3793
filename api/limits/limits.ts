// All limits of a gateway: where they are counted, what happens when that is not possible, and what they refused.
import { GatewayError } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import { bucketOf, WRONG_KEYS, type LimitSettings, type RouteLimit } from './buckets.ts';
import { createMemoryCounter, type Counter, type CreateCounter, type Taken } from './counter.ts';
import { describeRefusal, type LimitBackend, type Quota } from './headers.ts';
import { openSharedCounters } from './shared-counters.ts';

export type LimitCode = 'rate_limited' | 'rate_limiter_unavailable' | 'verification_locked' | 'queue_full';

/** `none`: no Redis is configured. */
export type RedisState = 'ok' | 'down' | 'none';

export interface Limits {
  /** Where the requests of a route count. */
  counterOf: (limit: RouteLimit) => Counter;
  wrongKeys: Counter;
  /** A counter for a further bucket, with the same rules. */
  createCounter: CreateCounter;
  /** Takes a point, or throws the 429. */
  take: (counter: Counter, key: string, soFar?: LimitBackend) => Promise<Taken>;
  /** A 429 with everything its reader needs to know when to come back. */
  refuse: (code: LimitCode, quota: Quota, state: { backend: LimitBackend; resetMs: number }) => GatewayError;
  redis: () => RedisState;
  /** Since the start of the process. */
  figures: () => { refused: Readonly<Record<LimitBackend, number>>; isBreakerOpen: boolean };
  /** Connects to Redis where there is one; waits for the first attempt, half a second at most. */
  start: () => Promise<void>;
  stop: () => void;
}

export interface LimitsOptions {
  settings: LimitSettings;
  redisUrl: string | null;
  /** Without Redis, refuse what is limited instead of counting in this process. */
  requiresRedis: boolean;
  /** What stands in Redis for a key. */
  hashKey: (key: string) => string;
  log: Log;
}

/** Redis is looked for again every second: earlier it is of no use to come back. */
const UNAVAILABLE_MS = 1_000;
const UNAVAILABLE: Taken = {
  verdict: 'unavailable',
  backend: 'redis_unavailable',
  remaining: 0,
  resetMs: UNAVAILABLE_MS,
  giveBack: () => undefined,
};

export function createLimits({ settings, redisUrl, requiresRedis, hashKey, log }: LimitsOptions): Limits {
  const shared = redisUrl === null ? null : openSharedCounters(redisUrl, { hashKey, log });
  const createCounter: CreateCounter = (bucket) => {
    const inMemory = createMemoryCounter(bucket);
    if (!shared) return inMemory;
    const takeShared = shared.createTake(bucket);
    const take: Counter['take'] = async (key, soFar) => {
      const taken = soFar === 'memory' ? null : await takeShared(key);
      return taken ?? (requiresRedis ? UNAVAILABLE : inMemory.take(key));
    };
    return { bucket, take };
  };
  const refused: Record<LimitBackend, number> = { redis: 0, memory: 0, redis_unavailable: 0 };
  const refuse: Limits['refuse'] = (code, quota, state) => {
    refused[state.backend] += 1;
    return new GatewayError(code, { headers: describeRefusal(quota, state) });
  };
  const counters = new Map<string, Counter>();
  return {
    counterOf: (limit) => {
      const bucket = bucketOf(limit, settings);
      const counter = counters.get(bucket.name) ?? createCounter(bucket);
      counters.set(bucket.name, counter);
      return counter;
    },
    wrongKeys: createCounter(WRONG_KEYS),
    createCounter,
    take: async (counter, key, soFar) => {
      const taken = await counter.take(key, soFar);
      if (taken.verdict === 'over') throw refuse('rate_limited', counter.bucket, taken);
      if (taken.verdict === 'unavailable') throw refuse('rate_limiter_unavailable', counter.bucket, taken);
      return taken;
    },
    refuse,
    redis: () => (shared === null ? 'none' : shared.isAnswering() ? 'ok' : 'down'),
    figures: () => ({ refused: { ...refused }, isBreakerOpen: shared?.isBreakerOpen() ?? false }),
    start: async () => shared?.start(),
    stop: () => shared?.stop(),
  };
}
