// Ids: a prefix and 26 characters of a time-ordered 128-bit number, so that sorting by id is sorting by age.
import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // Crockford's base 32: no I, L, O, U
const CHARACTERS = 26;

export type IdPrefix =
  | 'task'
  | 'key'
  | 'res'
  | 'led'
  | 'txn'
  | 'usr'
  | 'ses'
  | 'rdm'
  | 'rdp'
  | 'aud'
  | 'rec'
  | 'flow'
  | 'idm'
  | 'file'
  | 'call';

/** A new id, such as `task_01KB5M…`: 48 bits of milliseconds, then 80 random bits. */
export function makeId(
  prefix: IdPrefix,
  now: number = Date.now(),
  random: Uint8Array = randomBytes(10),
): string {
  let value = BigInt(now);
  for (const byte of random) value = (value << 8n) | BigInt(byte);
  let text = '';
  for (let position = 0; position < CHARACTERS; position += 1) {
    text = ALPHABET.charAt(Number(value & 31n)) + text;
    value >>= 5n;
  }
  return `${prefix}_${text}`;
}

/** Whether a text has the shape of such an id; anything else cannot exist and needs no query. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text.slice(prefix.length + 1));
}

/** When an id was made, by the clock of whoever made it. */
export function timeOfId(id: string): Date {
  const [, text = ''] = id.split('_');
  const value = [...text].reduce((sum, character) => sum * 32n + BigInt(ALPHABET.indexOf(character)), 0n);
  return new Date(Number(value >> 80n));
}
