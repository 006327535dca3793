// Limits for wrong answers of whoever may be guessing a secret. How many guesses an address may send at all is the
// limit of the route.
import type { GuessKind } from './buckets.ts';
import type { Counter, Taken } from './counter.ts';
import { addressBlock } from './address-block.ts';
import type { LimitBackend } from './headers.ts';
import type { Limits } from './limits.ts';

export interface Guesser {
  ip: string;
  /** Whose secret it is: the user's id; for a login, where nothing is proved yet, the normalised e-mail address. */
  subject: string;
  /** What counted the request. */
  limitBackend: LimitBackend;
}

export interface GuessLimiter {
  /**
   * Runs `judge` if the limits allow another wrong answer, and throws 429 before it otherwise. The point is taken
   * beforehand, so that parallel guesses cannot overshoot, and given back unless the verdict is wrong. When `judge`
   * throws, nothing was guessed: return wrong answers, do not throw them.
   */
  limit: <Verdict extends { isWrong: boolean }>(
    kind: GuessKind,
    guesser: Guesser,
    judge: () => Promise<Verdict>,
  ) => Promise<Verdict>;
}

const WRONG_ANSWERS = { points: 10, seconds: 3_600 };
/**
 * Anybody can send wrong passwords for anybody's e-mail address, so the limit for a login is one of the address and
 * the sender together: strangers use up their own. This much higher one, over all senders, is for those who come from
 * many addresses; only such an attack can shut the owner out, and for an hour at most.
 */
const WRONG_LOGINS_PER_EMAIL = { points: 100, seconds: 3_600 };

/** One for the whole process. */
export function createGuessLimiter(limits: Pick<Limits, 'createCounter' | 'take'>): GuessLimiter {
  const kinds = new Map<GuessKind, readonly WrongAnswers[]>();
  const countersOf = (kind: GuessKind): readonly WrongAnswers[] => {
    const counters = kinds.get(kind) ?? createKindCounters(kind, limits);
    kinds.set(kind, counters);
    return counters;
  };
  return {
    limit: async (kind, { ip, subject, limitBackend }, judge) => {
      const address = addressBlock(ip);
      const points = countersOf(kind).map(({ counter, keyOf }): Point => [counter, keyOf(subject, address)]);
      const taken = await takeAll(limits, points, limitBackend);
      let isWrong = false;
      try {
        const verdict = await judge();
        isWrong = verdict.isWrong;
        return verdict;
      } finally {
        if (!isWrong) for (const { giveBack } of taken) giveBack();
      }
    },
  };
}

interface WrongAnswers {
  counter: Counter;
  keyOf: (subject: string, address: string) => string;
}

type Point = [counter: Counter, key: string];

function createKindCounters(
  kind: GuessKind,
  { createCounter }: Pick<Limits, 'createCounter'>,
): WrongAnswers[] {
  const counter = createCounter({ name: `${kind}-wrong`, ...WRONG_ANSWERS });
  if (kind !== 'login') return [{ counter, keyOf: (subject) => subject }];
  const everywhere = createCounter({ name: 'login-wrong-email', ...WRONG_LOGINS_PER_EMAIL });
  return [
    { counter, keyOf: (subject, address) => `${address} ${subject}` },
    { counter: everywhere, keyOf: (subject) => subject },
  ];
}

/** All or none. */
async function takeAll(
  limits: Pick<Limits, 'take'>,
  points: readonly Point[],
  limitBackend: LimitBackend,
): Promise<Taken[]> {
  const taken: Taken[] = [];
  try {
    for (const [counter, key] of points)
      taken.push(await limits.take(counter, key, taken.at(-1)?.backend ?? limitBackend));
    return taken;
  } catch (refusal) {
    for (const { giveBack } of taken) giveBack();
    throw refusal;
  }
}
