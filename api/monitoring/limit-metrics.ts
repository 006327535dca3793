// Prometheus metrics of the rate limits of this process.
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Limits } from '../limits/limits.ts';

export function addLimitMetrics(registry: Registry, limits: Limits): void {
  const registers = [registry];
  const refused: Counter<'backend'> = new Counter({
    name: 'svc_rate_limited_total',
    help: 'Requests refused with 429, by what did the counting',
    labelNames: ['backend'],
    registers,
    collect: () => {
      refused.reset();
      for (const [backend, count] of Object.entries(limits.metricsSnapshot().refused))
        refused.inc({ backend }, count);
    },
  });
  const redis: Gauge = new Gauge({
    name: 'svc_rate_limiter_redis_up',
    help: 'Whether Redis counts the limits; 0 also where none is configured',
    registers,
    collect: () => redis.set(limits.redis() === 'ok' ? 1 : 0),
  });
  const breaker: Gauge = new Gauge({
    name: 'svc_rate_limiter_breaker_open',
    help: 'Whether Redis is not even asked, because it failed too often',
    registers,
    collect: () => breaker.set(limits.metricsSnapshot().isBreakerOpen ? 1 : 0),
  });
}
