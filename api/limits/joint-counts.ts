// Consumes the points of many requests in one run of a script: what is asked for in a round of the event
// loop goes out together.
import type { Redis, Result } from 'ioredis';

/** As ioredis has commands of one's own declared. */
declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** The number of keys, the keys, and of each its points, seconds and limit. */
    countAll(keys: number, ...keysAndValues: readonly string[]): Result<number[], Context>;
  }
}

/** The part of a Redis client that `RateLimiterRedis` calls. */
export interface CountingClient {
  readonly status: Redis['status'];
  /**
   * Consumes points of a key's window, or refunds them when negative: key, points, seconds, limit. Resolves
   * to the points consumed and the milliseconds until the window ends.
   */
  rlflxIncr(asked: readonly string[]): Promise<readonly [consumed: number, endsInMs: number]>;
}

/** Keys in one run of the script, in which Redis serves no one else. */
const KEYS_MAX = 100;

/**
 * Atomic for each key. Unlike the library's own script it does not count refused requests, and a refund
 * neither opens a window nor raises one above its limit.
 */
const COUNT_ALL = `
local counted = {}
for n, key in ipairs(KEYS) do
  local points, seconds, limit = tonumber(ARGV[3 * n - 2]), tonumber(ARGV[3 * n - 1]), tonumber(ARGV[3 * n])
  local ttl = redis.call('pttl', key)
  local used = ttl < 0 and 0 or tonumber(redis.call('get', key))
  if points < 0 then
    if used > 0 then used = redis.call('incrby', key, points) end
  elseif used + points > limit then
    used = used + points
  elseif ttl < 0 then
    redis.call('set', key, points, 'EX', seconds)
    used, ttl = points, seconds * 1000
  else
    used = redis.call('incrby', key, points)
  end
  counted[2 * n - 1], counted[2 * n] = used, ttl
end
return counted`;

interface Asked {
  key: string;
  /** Points, seconds and limit. */
  values: readonly string[];
  resolve(counted: readonly [number, number]): void;
  reject(error: unknown): void;
}

/** Adds the script to the client, as a command. */
export function joinCounts(client: Redis): CountingClient {
  client.defineCommand('countAll', { lua: COUNT_ALL });
  let asked: Asked[] = [];
  const sendAll = (): void => {
    const all = asked;
    asked = [];
    for (let from = 0; from < all.length; from += KEYS_MAX)
      void send(client, all.slice(from, from + KEYS_MAX));
  };
  return {
    get status() {
      return client.status;
    },
    rlflxIncr: ([key = '', ...values]) =>
      new Promise((resolve, reject) => {
        if (asked.length === 0) setImmediate(sendAll);
        asked.push({ key, values: values.slice(0, 3), resolve, reject });
      }),
  };
}

/** Never rejects. What Redis refuses because of one key it is asked for each alone. */
async function send(client: Redis, all: readonly Asked[]): Promise<void> {
  const keysAndValues = [...all.map(({ key }) => key), ...all.flatMap(({ values }) => values)];
  try {
    const counted = await client.countAll(all.length, ...keysAndValues);
    for (const [n, { resolve }] of all.entries())
      resolve([Number(counted[2 * n]), Number(counted[2 * n + 1])]);
  } catch (error) {
    const isRefused = error instanceof Error && error.name === 'ReplyError';
    if (isRefused && all.length > 1) await Promise.all(all.map((one) => send(client, [one])));
    else for (const { reject } of all) reject(error);
  }
}
