// Defines buckets: which requests are counted together, and under which name a 429 reports them.
import type { ErrorCode } from '../../domain/errors.ts';
import type { Quota } from './headers.ts';

/**
 * Names of the limits. `auth` covers login, step-up verification and redeeming: every route where a secret
 * can be guessed.
 */
export type LimitName = 'chat' | 'create' | 'read' | 'upload' | 'webhook' | 'auth';

/** Kinds of secrets that can be guessed. Each has its own windows, so that none uses up another's points. */
export type GuessKind = 'login' | 'second-factor' | 'verify' | 'password' | 'totp-confirm' | 'redeem';

/** The secret that can be guessed on a route, and how a wrong answer is reported. */
export interface RouteGuess {
  limit: GuessKind;
  /** The error code of a wrong answer. Absent: the handler reports wrong answers to the limiter itself. */
  wrongWhen?: ErrorCode;
}

/** The part of a route that names the bucket of its requests. */
export type RouteLimit =
  | { limit: Exclude<LimitName, 'auth'>; guess?: undefined }
  | { limit: 'auth'; guess: RouteGuess };

/** Points per window of whole seconds: Redis would keep a key without expiry for a shorter window. */
export type LimitSettings = Readonly<Record<LimitName | 'stray', { points: number; seconds: number }>>;

/** A quota that is renewed in fixed windows. */
export interface Bucket extends Quota {
  seconds: number;
}

/**
 * The bucket of unknown and malformed API keys, per address block. Requests with valid keys are not counted
 * in it.
 */
export const WRONG_KEYS: Bucket = { name: 'wrong-keys', points: 60, seconds: 60 };

export function bucketOf({ limit, guess }: RouteLimit, settings: LimitSettings): Bucket {
  return { name: guess === undefined ? limit : `${guess.limit}-address`, ...settings[limit] };
}
