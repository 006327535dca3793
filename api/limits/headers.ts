// What a limit tells its caller, on success and on refusal: how much is left, and when it begins anew.

/** What did the counting; callers read it in X-RateLimit-Backend. */
export type LimitBackend = 'redis' | 'memory' | 'redis_unavailable';

/** Something of which there is only so much. */
export interface Quota {
  /** Letters, digits and hyphens: it stands in headers. */
  name: string;
  points: number;
  /** Length of its window; null for what has none, such as places in a queue. */
  seconds: number | null;
}

/** How a quota stands after a request. */
export interface QuotaState {
  remaining: number;
  /** Until it begins anew. */
  resetMs: number;
}

/** The headers of every limited answer: the usual three, and the pair of the IETF's draft. */
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

/** The headers of a 429. */
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

/** Whole seconds, rounded up: who comes back then is not too early. HTTP knows no fractions here. */
function waitSeconds(resetMs: number): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}
