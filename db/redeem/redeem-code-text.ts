// The text of a redeem code: how it is made, and how what somebody typed is brought into the one form that is hashed.
import { randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // Crockford's base 32: no I, L, O, U
const CHARACTERS = 24; // 120 bits
const GROUP_CHARACTERS = 6;
const HINT_CHARACTERS = 4;
const PREFIX = 'SVC';
const SHAPE = new RegExp(`^[${ALPHABET}]{${CHARACTERS}}$`);

/** A new code in its one form, without prefix and hyphens. */
export function makeRedeemCode(): string {
  return Array.from({ length: CHARACTERS }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** As people read it: `SVC-XXXXXX-XXXXXX-XXXXXX-XXXXXX`. */
export function writeRedeemCode(code: string): string {
  return [PREFIX, ...(code.match(new RegExp(`.{${GROUP_CHARACTERS}}`, 'g')) ?? [])].join('-');
}

/** The last characters: enough to recognise a code one has, of no use to guess it. */
export function hintOf(code: string): string {
  return code.slice(-HINT_CHARACTERS);
}

/**
 * The one form of what somebody typed, or null when it cannot be a code. Case, hyphens and spaces do not matter, O is
 * read as 0, I and L as 1. The prefix may be missing; the length tells whether it is there, since a code may begin
 * with the same letters.
 */
export function normaliseRedeemCode(text: string): string | null {
  const compact = text.toUpperCase().replaceAll(/[\s\p{Dash}]/gu, '');
  const hasPrefix = compact.length === PREFIX.length + CHARACTERS && compact.startsWith(PREFIX);
  const code = (hasPrefix ? compact.slice(PREFIX.length) : compact)
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
  return SHAPE.test(code) ? code : null;
}
