// Creates the limits of a process: where they are counted, what happens without Redis, what was refused.
import { GatewayError } from '../../domain/errors.ts';
import type { Log } from '../../log.ts';
import { bucketOf, WRONG_KEYS, type LimitSettings, type RouteLimit } from './buckets.ts';
import {
  consumeInMemory,
  createCounter,
  type Counter,
  type CreateCounter,
  type ConsumeResult,
} from './counter.ts';
import { describeRefusal, type LimitBackend, type Quota } from './headers.ts';
import { openSharedCounters } from './shared-counters.ts';

export type LimitCode =
  | 'rate_limited'
  | 'rate_limiter_unavailable'
  | 'verification_locked'
  | 'concurrency_limited'
  | 'queue_full';

/** State of the connection to Redis; `none`: no Redis is configured. */
export type RedisState = 'ok' | 'down' | 'none';

export interface Limits {
  /** Returns the counter of a route's requests. */
  counterOf: (limit: RouteLimit) => Counter;
  /** Counts unknown and malformed API keys per address block. */
  wrongKeys: Counter;
  /** Counts requests that lead nowhere and need no login, per address block. */
  strays: Counter;
  /** Creates a counter for a further bucket, with the same rules about Redis and memory. */
  createCounter: CreateCounter;
  /** Consumes a point, or throws the 429. `countedBy` as in Counter. */
  consume: (counter: Counter, key: string, countedBy?: LimitBackend) => Promise<ConsumeResult>;
  /** Creates a 429 with the headers that tell the caller when to retry, and counts it in the metrics. */
  refuse: (code: LimitCode, quota: Quota, state: { backend: LimitBackend; resetMs: number }) => GatewayError;
  redis: () => RedisState;
  /** Returns the refusals since the start of the process, by backend, and the state of the breaker. */
  metricsSnapshot: () => { refused: Readonly<Record<LimitBackend, number>>; isBreakerOpen: boolean };
  /** Connects to Redis where one is configured; waits for the first attempt, half a second at most. */
  start: () => Promise<void>;
  stop: () => void;
}

export interface LimitsOptions {
  settings: LimitSettings;
  redisUrl: string | null;
  /** Whether limited requests are refused while Redis is away, instead of being counted in this process. */
  requiresRedis: boolean;
  /** Hashes a key, so that Redis stores no keys in clear. */
  hashKey: (key: string) => string;
  log: Log;
}

/** The breaker probes Redis every second, so an earlier retry is of no use. */
const UNAVAILABLE_MS = 1_000;
const UNAVAILABLE: ConsumeResult = {
  verdict: 'unavailable',
  backend: 'redis_unavailable',
  remaining: 0,
  resetMs: UNAVAILABLE_MS,
  refund: () => undefined,
};

export function createLimits({ settings, redisUrl, requiresRedis, hashKey, log }: LimitsOptions): Limits {
  const shared = redisUrl === null ? null : openSharedCounters(redisUrl, { hashKey, log });
  const create: CreateCounter = (bucket) => {
    const inMemory = consumeInMemory(bucket);
    if (!shared) return createCounter(bucket, inMemory);
    const consumeShared = shared.createConsume(bucket);
    return createCounter(bucket, async (key, countedBy) => {
      const result = countedBy === 'memory' ? null : await consumeShared(key);
      return result ?? (requiresRedis ? UNAVAILABLE : inMemory(key));
    });
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
      const counter = counters.get(bucket.name) ?? create(bucket);
      counters.set(bucket.name, counter);
      return counter;
    },
    wrongKeys: create(WRONG_KEYS),
    strays: create({ name: 'stray', ...settings.stray }),
    createCounter: create,
    consume: async (counter, key, countedBy) => {
      const result = await counter.consume(key, countedBy);
      if (result.verdict === 'over') throw refuse('rate_limited', counter.bucket, result);
      if (result.verdict === 'unavailable') throw refuse('rate_limiter_unavailable', counter.bucket, result);
      return result;
    },
    refuse,
    redis: () => (shared === null ? 'none' : shared.isAnswering() ? 'ok' : 'down'),
    metricsSnapshot: () => ({ refused: { ...refused }, isBreakerOpen: shared?.isBreakerOpen() ?? false }),
    start: async () => shared?.start(),
    stop: () => shared?.stop(),
  };
}
