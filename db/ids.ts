// Ids: a prefix and 26 characters of a time-ordered 128-bit number, so that sorting by id is sorting by age.
import { randomBytes } from 'node:crypto';
import { CROCKFORD_ALPHABET } from './crockford.ts';
import type { IdPrefix } from '../domain/ids.ts';

export const RANDOM_BYTES = 10;
const POOLED_IDS = 400;

/** A new id, such as `task_01KB5M…`: 48 bits of milliseconds, then 80 random bits. */
export function makeId(
  prefix: IdPrefix,
  now: number = Date.now(),
  random: Uint8Array = takeRandom(),
): string {
  return `${prefix}_${encode(now, random)}`;
}

/** Writes 128 bits as 26 characters of 5 bits, the first of which has only 3. */
function encode(now: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(now) << 16n);
  bytes.set(random.subarray(0, RANDOM_BYTES), 6);
  let text = '';
  let buffer = 0;
  let bits = 2; // two bits of zero make 130 of 128
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += CROCKFORD_ALPHABET.charAt((buffer >> (bits - 5)) & 31);
    buffer &= (1 << bits) - 1;
  }
  return text;
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

/** Pattern of the 26 characters after the prefix. */
export const ID_BODY_PATTERN = '[0-9A-HJKMNP-TV-Z]{26}';
const ID_BODY = new RegExp(`^${ID_BODY_PATTERN}$`);

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
