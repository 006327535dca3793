// Ids: a prefix and 26 characters of a time-ordered 128-bit number, so that sorting by id is sorting by age.
import { randomBytes } from 'node:crypto';
import { CROCKFORD_ALPHABET } from './crockford.ts';
import type { IdPrefix } from '../domain/ids.ts';

export const RANDOM_BYTES = 10;
/** Pattern of the 26 characters after the prefix. */
export const ID_BODY_PATTERN = '[0-9A-HJKMNP-TV-Z]{26}';
const ID_BODY = new RegExp(`^${ID_BODY_PATTERN}$`);
const POOLED_IDS = 400;

/** A new id, such as `task_01KB5M…`: 48 bits of milliseconds, then 80 random bits. */
export function makeId(
  prefix: IdPrefix,
  now: number = Date.now(),
  random: Uint8Array = takeRandom(),
): string {
  return `${prefix}_${encode(now, random)}`;
}

/** Whether a text has the shape of such an id; anything else cannot exist and needs no query. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && ID_BODY.test(text.slice(prefix.length + 1));
}

/** The smallest id of a moment: every id made then or later sorts behind it or is equal. */
export function firstIdAt(prefix: IdPrefix, moment: Date): string {
  return makeId(prefix, Math.max(0, moment.getTime()), new Uint8Array(RANDOM_BYTES));
}

/** When an id was made, by the clock of the process that made it. */
export function timeOfId(id: string): Date {
  const [, text = ''] = id.split('_');
  const value = [...text].reduce(
    (sum, character) => sum * 32n + BigInt(CROCKFORD_ALPHABET.indexOf(character)),
    0n,
  );
  return new Date(Number(value >> 80n));
}

/** Writes 48 bits of time as 10 characters, of which the first has 3 bits, and 80 random bits as 16. */
function encode(now: number, random: Uint8Array): string {
  const time = pairOf(Math.floor(now / 2 ** 40)) + quadOf(Math.floor(now / 2 ** 20)) + quadOf(now);
  return time + encode40(random, 0) + encode40(random, 5);
}

function encode40(bytes: Uint8Array, at: number): string {
  const byte = (n: number): number => bytes[at + n] ?? 0;
  return (
    quadOf((byte(0) << 12) | (byte(1) << 4) | (byte(2) >> 4)) +
    quadOf((byte(2) << 16) | (byte(3) << 8) | byte(4))
  );
}

/** Two characters for each number of 10 bits: a lookup for two is as fast as one for one. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, bits) => CROCKFORD_ALPHABET.charAt(bits >> 5) + CROCKFORD_ALPHABET.charAt(bits & 31),
);

function pairOf(bits: number): string {
  return PAIRS[bits & 1023] ?? '';
}

/** Writes the last 20 bits. */
function quadOf(bits: number): string {
  return pairOf(bits >> 10) + pairOf(bits);
}

let pool = randomBytes(0);
let taken = 0;

/** Random bytes for one id. They are drawn for many ids: ten cost the system as much as thousands. */
function takeRandom(): Uint8Array {
  if (taken + RANDOM_BYTES > pool.length) {
    pool = randomBytes(RANDOM_BYTES * POOLED_IDS);
    taken = 0;
  }
  taken += RANDOM_BYTES;
  return pool.subarray(taken - RANDOM_BYTES, taken);
}
