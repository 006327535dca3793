// Two gateways that count their limits in a Redis of their own: one that requires it, and one that does not.
import { Redis } from 'ioredis';
import type { Cleanup } from '../cleanup.ts';
import type { Answer } from '../http/http.ts';
import { verdictOf } from '../http/limits.ts';
import { until } from '../until.ts';
import { startGateway, type TestGateway, type TestUser } from './gateway.ts';
import { startOwnRedis, type OwnServer } from './own-servers.ts';

/** Requests of the limit `read`, which `readOnce` counts against. */
export const READS = 3;
export const LIMITS = { SVC_LIMIT_READ: `${READS}/60`, SVC_LIMIT_AUTH: '5/60' };
/** Longest time until a gateway counts in Redis again, once Redis answers. */
export const RECOVERY_LIMIT_MS = 2_000;
/** The verdicts on as many reads as the limit allows. */
export const ALLOWED: readonly string[] = Array(READS).fill('200');
export const BY_REDIS = 'rate_limited by redis';

/** The value of SVC_RATE_LIMIT_REQUIRE_REDIS. */
export type RequiresRedis = '0' | '1';

export interface LimitBackends {
  redis: OwnServer;
  /** An operator's connection to Redis. */
  operator: Redis;
  gateways: ReadonlyMap<RequiresRedis, TestGateway>;
  gatewayOf(required: RequiresRedis): TestGateway;
  /** Resolves when both gateways count in Redis again. */
  untilBack(): Promise<unknown>;
}

/** Starts Redis and both gateways; `cleanup` stops what was started, even when this function fails. */
export async function startLimitBackends(
  cleanup: Cleanup,
  { worker = true }: { worker?: boolean } = {},
): Promise<LimitBackends> {
  const redis = await startOwnRedis();
  cleanup.later(() => redis.remove());
  const operator = new Redis(redis.address, { retryStrategy: () => 50 });
  operator.on('error', () => undefined);
  cleanup.later(async () => operator.disconnect());
  const gateways = new Map<RequiresRedis, TestGateway>();
  for (const required of ['0', '1'] as const) {
    const env = { ...LIMITS, REDIS_URL: redis.address, SVC_RATE_LIMIT_REQUIRE_REDIS: required };
    const gateway = await startGateway({ worker, env });
    cleanup.later(() => gateway.stop());
    gateways.set(required, gateway);
  }
  const gatewayOf = (required: RequiresRedis): TestGateway => {
    const gateway = gateways.get(required);
    if (!gateway) throw new Error('there is no such gateway');
    return gateway;
  };
  const untilBack = (): Promise<unknown> =>
    until(
      'both gateways count in Redis again',
      async () => [...gateways.values()].every(({ services }) => services.limits.redis() === 'ok'),
      RECOVERY_LIMIT_MS,
    );
  return { redis, operator, gateways, gatewayOf, untilBack };
}

export function readOnce({ key }: TestUser): Promise<Answer> {
  return key.get('/v1/models');
}

/** The verdicts on one read more than the limit allows. */
export async function readAll(user: TestUser): Promise<string[]> {
  const verdicts: string[] = [];
  for (let count = 0; count <= READS; count += 1) verdicts.push(verdictOf(await readOnce(user)));
  return verdicts;
}
