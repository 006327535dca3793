// Limits for whoever may be guessing a secret: how many per address, how many wrong ones per user.
import { GatewayError } from '../../domain/errors.ts';
import { addressBlock } from './address-block.ts';
import type { Counter, CreateCounter, LimitBackend } from './counter.ts';
import { refuseLimited } from './refusal.ts';

/** What is guessed. Each has windows of its own, so that one does not use up what is left for another. */
export type GuessKind = 'login' | 'second-factor' | 'verify' | 'password' | 'totp-confirm' | 'redeem';

export interface Guesser {
  ip: string;
  /** Whose secret it is: the user's id; for a login, where nothing is proved yet, the normalised e-mail address. */
  subject: string;
}

export interface GuessLimiter {
  /**
   * Runs `judge` if the limits allow another guess, and throws 429 rate_limited before it otherwise. The point for a
   * wrong answer is taken beforehand, so that parallel guesses cannot overshoot, and given back unless the verdict is
   * wrong. When `judge` throws, nothing was guessed: return wrong answers, do not throw them.
   */
  limit: <Verdict extends { isWrong: boolean }>(
    kind: GuessKind,
    guesser: Guesser,
    judge: (backend: LimitBackend) => Promise<Verdict>,
  ) => Promise<Verdict>;
}

const GUESSES_PER_ADDRESS = { points: 20, seconds: 20 * 60 };
const WRONG_ANSWERS = { points: 10, seconds: 3_600 };
/**
 * Anybody can send wrong passwords for anybody's e-mail address, so the limit for a login is one of the address and
 * the sender together: strangers use up their own. This much higher one, over all senders, is for those who come from
 * many addresses; only such an attack can shut the owner out, and for an hour at most.
 */
const WRONG_LOGINS_PER_EMAIL = { points: 100, seconds: 3_600 };

/** One for the whole process. `createCounter` decides where it counts. */
export function createGuessLimiter(createCounter: CreateCounter): GuessLimiter {
  const kinds = new Map<GuessKind, KindCounters>();
  const countersOf = (kind: GuessKind): KindCounters => {
    const counters = kinds.get(kind) ?? createKindCounters(kind, createCounter);
    kinds.set(kind, counters);
    return counters;
  };
  return {
    limit: async (kind, guesser, judge) => {
      const { guesses, wrongAnswers } = countersOf(kind);
      const address = addressBlock(guesser.ip);
      const backend = await takeAll([[guesses, address]]);
      const wrong = wrongAnswers.map(([counter, keyOf]): Point => [counter, keyOf(guesser.subject, address)]);
      await takeAll(wrong);
      try {
        const verdict = await judge(backend);
        if (!verdict.isWrong) await giveBackAll(wrong);
        return verdict;
      } catch (error) {
        await giveBackAll(wrong);
        // Our own faults cost the caller nothing: an outage must not end in a lock.
        if (!(error instanceof GatewayError)) await guesses.giveBack(address);
        throw error;
      }
    },
  };
}

interface KindCounters {
  guesses: Counter;
  wrongAnswers: readonly [counter: Counter, keyOf: (subject: string, address: string) => string][];
}

type Point = [counter: Counter, key: string];

function createKindCounters(kind: GuessKind, createCounter: CreateCounter): KindCounters {
  const guesses = createCounter({ name: `${kind}-address`, ...GUESSES_PER_ADDRESS });
  const wrong = createCounter({ name: `${kind}-wrong`, ...WRONG_ANSWERS });
  if (kind !== 'login') return { guesses, wrongAnswers: [[wrong, (subject) => subject]] };
  const wrongEverywhere = createCounter({ name: 'login-wrong-email', ...WRONG_LOGINS_PER_EMAIL });
  const byPair = (subject: string, address: string): string => `${address} ${subject}`;
  return {
    guesses,
    wrongAnswers: [
      [wrong, byPair],
      [wrongEverywhere, (subject) => subject],
    ],
  };
}

/** All or none. Answers what did the counting. */
async function takeAll(points: readonly Point[]): Promise<LimitBackend> {
  let backend: LimitBackend = 'memory';
  for (const [index, [counter, key]] of points.entries()) {
    const taken = await counter.take(key);
    backend = taken.backend;
    if (taken.isWithin) continue;
    await giveBackAll(points.slice(0, index));
    throw refuseLimited('rate_limited', counter.bucket, taken);
  }
  return backend;
}

async function giveBackAll(points: readonly Point[]): Promise<void> {
  for (const [counter, key] of points) await counter.giveBack(key);
}
