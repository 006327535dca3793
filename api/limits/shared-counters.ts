// Counts in Redis, shared by all processes. A count answers within a tenth of a second, or fails.
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Log } from '../../log.ts';
import { createBreaker } from './breaker.ts';
import type { Bucket } from './buckets.ts';
import { consumePoint, toConsumeResult, type ConsumeResult } from './counter.ts';
import { joinCounts } from './joint-counts.ts';

export interface SharedCounters {
  /**
   * Creates a function that consumes a point as a Counter does; null when Redis does not count: away, hung,
   * read-only or full.
   */
  createConsume: (bucket: Bucket) => (key: string) => Promise<ConsumeResult | null>;
  isAnswering: () => boolean;
  isBreakerOpen: () => boolean;
  /** Connects. Waits for the first attempt only; reconnecting goes on in the background until `stop`. */
  start: () => Promise<void>;
  stop: () => void;
}

const KEY_PREFIX = 'svc:limit';
const ANSWER_LIMIT_MS = 100;
const CONNECT_LIMIT_MS = 500;
/** Silence after which a connection is replaced: the host may have vanished without closing it. */
const SILENCE_LIMIT_MS = 500;
const RECONNECT_PAUSE_MAX_MS = 500;
const FAILURES_MAX = 5;
const OPEN_MS = 1_000;
const HASHES_KEPT_MAX = 10_000;

/** Opens the counters without connecting yet. `hashKey` keeps user ids and addresses out of Redis. */
export function openSharedCounters(
  url: string,
  { hashKey, log }: { hashKey: (key: string) => string; log: Log },
): SharedCounters {
  const client = connect(url);
  const storeClient = joinCounts(client);
  const hashOf = cacheHashes(hashKey);
  const breaker = createBreaker({
    failuresMax: FAILURES_MAX,
    openMs: OPEN_MS,
    // A write, because a Redis that is full or read-only still answers reads.
    probe: () => client.set(`${KEY_PREFIX}:probe`, '', 'EX', 1),
    onOpen: (reason) => log.warn({ reason: describe(reason) }, 'Redis does not count: limits do without it'),
    onClose: () => log.info({}, 'Redis counts the limits again'),
  });
  client.on('ready', breaker.retry);
  // Faults are handled where a command fails; without a listener this event would end the process.
  client.on('error', () => undefined);
  return {
    createConsume: (bucket) => {
      const limiter = new RateLimiterRedis({
        storeClient,
        keyPrefix: `${KEY_PREFIX}:${bucket.name}`,
        points: bucket.points,
        duration: bucket.seconds,
        rejectIfRedisNotReady: true,
      });
      return (key) => {
        const hashed = hashOf(key);
        const refund = (): void => void breaker.run(() => limiter.reward(hashed));
        return breaker.run(async () => toConsumeResult('redis', await consumePoint(limiter, hashed), refund));
      };
    },
    isAnswering: () => client.status === 'ready' && !breaker.isOpen(),
    isBreakerOpen: breaker.isOpen,
    start: async () => {
      await client.connect().catch((error: unknown) => {
        log.warn({ reason: describe(error) }, 'Redis cannot be reached: limits do without it');
      });
    },
    stop: () => {
      breaker.stop();
      client.disconnect();
    },
  };
}

/** Caches hashes of recent keys: hashing costs more than the rest of a count, and the same callers return. */
function cacheHashes(hashKey: (key: string) => string): (key: string) => string {
  const known = new LRUCache<string, string>({ max: HASHES_KEPT_MAX, memoMethod: hashKey });
  return (key) => known.memo(key);
}

/** Opens a connection for limits alone: commands neither queue while it is down nor are sent twice. */
function connect(url: string): Redis {
  return new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: ANSWER_LIMIT_MS,
    connectTimeout: CONNECT_LIMIT_MS,
    socketTimeout: SILENCE_LIMIT_MS,
    retryStrategy: (attempt) => Math.min(50 * attempt, RECONNECT_PAUSE_MAX_MS),
    // After a failover the host name leads to the new primary, but an open connection stays with the old one.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  });
}

/**
 * Returns the message alone: errors of ioredis also carry the command, and the command AUTH holds the
 * password.
 */
function describe(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
