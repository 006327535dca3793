// A 429 with everything its reader needs to know when to come back.
import { GatewayError } from '../../domain/errors.ts';
import type { Bucket, LimitBackend } from './counter.ts';

export function refuseLimited(
  code: 'rate_limited' | 'verification_locked',
  bucket: Bucket,
  state: { backend: LimitBackend; resetMs: number },
): GatewayError {
  const { name, points, seconds } = bucket;
  // Whole seconds, rounded up: who comes back then is not too early. HTTP knows no fractions here.
  const waitSeconds = Math.max(1, Math.ceil(state.resetMs / 1000));
  const headers = {
    'retry-after': String(waitSeconds),
    'x-ratelimit-limit': String(points),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil((Date.now() + state.resetMs) / 1000)),
    'x-ratelimit-backend': state.backend,
    'ratelimit-policy': `"${name}";q=${points};w=${seconds}`,
    ratelimit: `"${name}";r=0;t=${waitSeconds}`,
  };
  return new GatewayError(code, { headers });
}
