// Counting in Redis, for all processes together. Whoever asks gets an answer within a tenth of a second, or none.
import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Log } from '../../log.ts';
import { createBreaker } from './breaker.ts';
import type { Bucket } from './buckets.ts';
import { consume, describeTaken, type Taken } from './counter.ts';

export interface SharedCounters {
  /** Takes a point like a counter, or answers null when Redis does not: away, hung, read-only, full. */
  createTake: (bucket: Bucket) => (key: string) => Promise<Taken | null>;
  isAnswering: () => boolean;
  isBreakerOpen: () => boolean;
  /** Connects. Waits for the first attempt only; after that it goes on by itself until `stop`. */
  start: () => Promise<void>;
  stop: () => void;
}

const KEY_PREFIX = 'svc:limit';
const ANSWER_LIMIT_MS = 100;
const CONNECT_LIMIT_MS = 500;
/** A connection on which nothing comes back for so long is made anew: the host may have gone without a word. */
const SILENCE_LIMIT_MS = 500;
const RECONNECT_PAUSE_MAX_MS = 500;
const FAILURES_MAX = 5;
const OPEN_MS = 1_000;
const HASHES_KEPT_MAX = 10_000;

/**
 * The window of a key, in one step. Unlike the library's own script it does not count what it refuses, and a point
 * given back neither opens a window nor makes one larger than its limit.
 */
const COUNT = `
local points, seconds, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local ttl = redis.call('pttl', KEYS[1])
local used = ttl < 0 and 0 or tonumber(redis.call('get', KEYS[1]))
if points < 0 then
  if used > 0 then used = redis.call('incrby', KEYS[1], points) end
  return {used, ttl}
end
if used + points > limit then return {used + points, ttl} end
if ttl < 0 then
  redis.call('set', KEYS[1], points, 'EX', seconds)
  return {points, seconds * 1000}
end
return {redis.call('incrby', KEYS[1], points), ttl}`;

/** `hashKey` keeps ids and addresses out of Redis: whom it counts is none of its business. */
export function openSharedCounters(
  url: string,
  { hashKey, log }: { hashKey: (key: string) => string; log: Log },
): SharedCounters {
  const client = connect(url);
  const remembered = rememberHashes(hashKey);
  const breaker = createBreaker({
    failuresMax: FAILURES_MAX,
    openMs: OPEN_MS,
    // A write, because a Redis that is full or read-only still reads.
    probe: () => client.set(`${KEY_PREFIX}:probe`, '', 'EX', 1),
    onOpen: (reason) => log.warn({ reason: describe(reason) }, 'Redis does not count: limits do without it'),
    onClose: () => log.info({}, 'Redis counts the limits again'),
  });
  client.on('ready', breaker.retry);
  // What goes wrong is seen where something was asked; without a listener the process would end here.
  client.on('error', () => undefined);
  return {
    createTake: (bucket) => {
      const limiter = new RateLimiterRedis({
        storeClient: client,
        keyPrefix: `${KEY_PREFIX}:${bucket.name}`,
        points: bucket.points,
        duration: bucket.seconds,
        rejectIfRedisNotReady: true,
        customIncrTtlLuaScript: COUNT,
      });
      return (key) => {
        const hashed = remembered(key);
        const giveBack = (): void => void breaker.run(() => limiter.reward(hashed));
        return breaker.run(async () => describeTaken('redis', await consume(limiter, hashed), giveBack));
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

/** Whoever calls, calls again: hashing costs more than the rest of a count. */
function rememberHashes(hashKey: (key: string) => string): (key: string) => string {
  const known = new Map<string, string>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= HASHES_KEPT_MAX) known.clear();
    const hashed = hashKey(key);
    known.set(key, hashed);
    return hashed;
  };
}

/** A connection for limits alone: nothing waits in it, and nothing is asked twice. */
function connect(url: string): Redis {
  return new Redis(url, {
    lazyConnect: true,
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: ANSWER_LIMIT_MS,
    connectTimeout: CONNECT_LIMIT_MS,
    socketTimeout: SILENCE_LIMIT_MS,
    retryStrategy: (attempt) => Math.min(50 * attempt, RECONNECT_PAUSE_MAX_MS),
    // After a failover the old name leads to another server, but an open connection stays with the old one.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  });
}

/** The sentence alone: Redis' errors carry the command, which for a login to Redis holds its password. */
function describe(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
