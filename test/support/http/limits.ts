// A 429 with all that callers are promised, and a limited answer of any other kind.
import { expect } from 'chai';

/** What is looked at of an answer. */
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

/** How the limit stands, as every limited answer tells it: all headers are there and agree. */
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

/** What a 429 has beside its status; it says who decided. */
export function expectLimitHeaders(answer: Limited): void {
  const { remaining, wait } = quotaOf(answer);
  expect(remaining).to.equal(0);
  expect(answer.headers.get('retry-after')).to.equal(String(wait));
  expect(answer.headers.get('x-ratelimit-backend')).to.be.oneOf(['redis', 'memory', 'redis_unavailable']);
}

/** `rate_limited`, or which answer it is instead; with who decided. */
export function verdictOf({
  status,
  headers,
  body,
}: Limited & { status: number; body: { error: { code: string } } }): string {
  if (status !== 429) return String(status);
  return `${body.error.code} by ${headers.get('x-ratelimit-backend')}`;
}
