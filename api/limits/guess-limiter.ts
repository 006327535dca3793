// Limits wrong answers where a secret can be guessed. Attempts per address are bounded by the route's limit.
import type { GuessKind } from './buckets.ts';
import type { Counter, ConsumeResult } from './counter.ts';
import { addressBlock } from './address-block.ts';
import type { LimitBackend } from './headers.ts';
import type { Limits } from './limits.ts';

/** The origin of an attempt, and the owner of the secret. */
export interface AttemptedBy {
  ip: string;
  /**
   * Owner of the secret: the user's id; for a login, before anything is proved, the normalised e-mail
   * address.
   */
  subject: string;
  /** The store that counted the request. */
  limitBackend: LimitBackend;
}

export interface GuessLimiter {
  /**
   * Runs `check` if the limits allow another wrong answer; throws 429 before it otherwise. The point is
   * consumed beforehand, so that parallel guesses cannot exceed the limit, and refunded unless the verdict is
   * wrong. When `check` throws, nothing counts as guessed: a wrong answer has to be returned, not thrown.
   */
  limit: <Verdict extends { isWrong: boolean }>(
    kind: GuessKind,
    attemptedBy: AttemptedBy,
    check: () => Promise<Verdict>,
  ) => Promise<Verdict>;
}

const WRONG_ANSWERS = { points: 10, seconds: 3_600 };
/**
 * Wrong passwords can be sent for any e-mail address, so WRONG_ANSWERS counts a login per e-mail address and
 * sender together: strangers use up their own points. This much higher limit, over all senders, stops an
 * attack from many addresses; only such an attack can lock the owner out, for an hour at most.
 */
const WRONG_LOGINS_PER_EMAIL = { points: 100, seconds: 3_600 };

/** Creates the limiter; one serves the whole process. */
export function createGuessLimiter(limits: Pick<Limits, 'createCounter' | 'consume'>): GuessLimiter {
  const kinds = new Map<GuessKind, readonly WrongAnswerCounter[]>();
  const countersOf = (kind: GuessKind): readonly WrongAnswerCounter[] => {
    const counters = kinds.get(kind) ?? createKindCounters(kind, limits);
    kinds.set(kind, counters);
    return counters;
  };
  return {
    limit: async (kind, { ip, subject, limitBackend }, check) => {
      const address = addressBlock(ip);
      const points = countersOf(kind).map(({ counter, keyOf }): Point => [counter, keyOf(subject, address)]);
      const consumed = await consumeAll(limits, points, limitBackend);
      let isWrong = false;
      try {
        const verdict = await check();
        isWrong = verdict.isWrong;
        return verdict;
      } finally {
        if (!isWrong) for (const { refund } of consumed) refund();
      }
    },
  };
}

interface WrongAnswerCounter {
  counter: Counter;
  keyOf: (subject: string, address: string) => string;
}

type Point = [counter: Counter, key: string];

function createKindCounters(
  kind: GuessKind,
  { createCounter }: Pick<Limits, 'createCounter'>,
): WrongAnswerCounter[] {
  const counter = createCounter({ name: `${kind}-wrong`, ...WRONG_ANSWERS });
  if (kind !== 'login') return [{ counter, keyOf: (subject) => subject }];
  const everywhere = createCounter({ name: 'login-wrong-email', ...WRONG_LOGINS_PER_EMAIL });
  return [
    { counter, keyOf: (subject, address) => `${address} ${subject}` },
    { counter: everywhere, keyOf: (subject) => subject },
  ];
}

/** Consumes every point or none: throws the 429 of the first counter that refuses. */
async function consumeAll(
  limits: Pick<Limits, 'consume'>,
  points: readonly Point[],
  limitBackend: LimitBackend,
): Promise<ConsumeResult[]> {
  const consumed: ConsumeResult[] = [];
  try {
    for (const [counter, key] of points)
      consumed.push(await limits.consume(counter, key, consumed.at(-1)?.backend ?? limitBackend));
    return consumed;
  } catch (refusal) {
    for (const { refund } of consumed) refund();
    throw refusal;
  }
}
