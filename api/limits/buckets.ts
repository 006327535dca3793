// Which requests count together: the buckets that a 429 names, and whose point a request takes in them.
import type { Quota } from './headers.ts';

/** `auth` is for whoever logs in, verifies or redeems. */
export type LimitName = 'chat' | 'create' | 'read' | 'upload' | 'auth';

/** What is guessed. Each has windows of its own, so that one does not use up what is left for another. */
export type GuessKind = 'login' | 'second-factor' | 'verify' | 'password' | 'totp-confirm' | 'redeem';

/** The part of a route that says where its requests count. */
export type RouteLimit =
  | { limit: Exclude<LimitName, 'auth'>; guess?: undefined }
  | { limit: 'auth'; guess: GuessKind };

/** Points per whole seconds: Redis would keep shorter windows for ever. */
export type LimitSettings = Readonly<Record<LimitName, { points: number; seconds: number }>>;

/** A quota that is a fixed window. */
export interface Bucket extends Quota {
  seconds: number;
}

/** Keys that are none, from one address. Good keys from there do not count. */
export const WRONG_KEYS: Bucket = { name: 'wrong-keys', points: 60, seconds: 60 };

export function bucketOf({ limit, guess }: RouteLimit, settings: LimitSettings): Bucket {
  return { name: guess === undefined ? limit : `${guess}-address`, ...settings[limit] };
}
