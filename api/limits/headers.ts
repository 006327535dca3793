// Writes the response headers of rate limits, on success and on refusal: what is left, when it is renewed.

/** The store that counted a request, as callers read it in X-RateLimit-Backend. */
export type LimitBackend = 'redis' | 'memory' | 'redis_unavailable';

/** A limited amount of something: requests in a window, or tasks in a queue. */
export interface Quota {
  /** The name that headers carry: letters, digits and hyphens. */
  name: string;
  points: number;
  /** Length of the window; null for a quota without one, such as waiting tasks. */
  seconds: number | null;
}

/** State of a quota after a request was counted. */
export interface QuotaState {
  remaining: number;
  /** Time until the quota is renewed. */
  resetMs: number;
}

/**
 * Writes the headers of every limited response: the three customary X-RateLimit headers and the pair of the
 * IETF draft.
 */
export function describeQuota(quota: Quota, { remaining, resetMs }: QuotaState): Record<string, string> {
  const { name, points, seconds } = quota;
  return {
    'x-ratelimit-limit': String(points),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil((Date.now() + resetMs) / 1000)),
    'ratelimit-policy': `"${name}";q=${points}${seconds === null ? '' : `;w=${seconds}`}`,
    ratelimit: `"${name}";r=${remaining};t=${waitSeconds(resetMs)}`,
  };
}

/** Writes the headers of a 429. */
export function describeRefusal(
  quota: Quota,
  { backend, resetMs }: { backend: LimitBackend; resetMs: number },
): Record<string, string> {
  return {
    ...describeQuota(quota, { remaining: 0, resetMs }),
    'retry-after': String(waitSeconds(resetMs)),
    'x-ratelimit-backend': backend,
  };
}

/**
 * Converts to whole seconds, rounded up so that a retry at that time is not too early; HTTP allows no
 * fractions here.
 */
function waitSeconds(resetMs: number): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}
