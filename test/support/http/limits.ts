// Reads the headers of limited responses, 429 or not.
import { expect } from 'chai';

/** The parts of a response that are read here. */
interface Limited {
  headers: Headers;
}

const ON_SUCCESS = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
];

/** State of the limit; expects all of its headers to be present and to agree. */
export function quotaOf({ headers }: Limited) {
  const [limit, remaining, reset, policy, state] = ON_SUCCESS.map(
    (name) => headers.get(name) ?? `no ${name}`,
  );
  for (const number of [limit, remaining, reset]) expect(number).to.match(/^\d+$/);
  const [, name, points, seconds] = /^"([a-z-]+)";q=(\d+)(?:;w=(\d+))?$/.exec(policy ?? '') ?? [];
  const [, sameName, left, wait] = /^"([a-z-]+)";r=(\d+);t=(\d+)$/.exec(state ?? '') ?? [];
  expect([sameName, points, left], `${policy} and ${state}`).to.deep.equal([name, limit, remaining]);
  expect(Number(wait)).to.be.at.least(1);
  expect(Number(reset) - Date.now() / 1000).to.be.closeTo(Number(wait), 3);
  return {
    name,
    limit: Number(limit),
    remaining: Number(remaining),
    seconds: Number(seconds),
    wait: Number(wait),
  };
}

/** Expects the further headers of a 429, which name the deciding backend. */
export function expectLimitHeaders(answer: Limited): void {
  const { remaining, wait } = quotaOf(answer);
  expect(remaining).to.equal(0);
  expect(answer.headers.get('retry-after')).to.equal(String(wait));
  expect(answer.headers.get('x-ratelimit-backend')).to.be.oneOf(['redis', 'memory', 'redis_unavailable']);
}

/** The status; for a 429 its code and the backend, such as `rate_limited by redis`. */
export function verdictOf({
  status,
  headers,
  body,
}: Limited & { status: number; body: { error: { code: string } } }): string {
  if (status !== 429) return String(status);
  return `${body.error.code} by ${headers.get('x-ratelimit-backend')}`;
}
