// The text of a redeem code: how it is made, and how typed text is brought into the one form that is hashed.
import { randomInt } from 'node:crypto';
import { correctLookalikes, CROCKFORD_ALPHABET } from '../crockford.ts';

const CHARACTERS = 24; // 120 bits
const GROUP_CHARACTERS = 6;
const HINT_CHARACTERS = 4;
const PREFIX = 'SVC';
const SHAPE = new RegExp(`^[${CROCKFORD_ALPHABET}]{${CHARACTERS}}$`);

/** A new code in the form that is hashed, without prefix and hyphens. */
export function makeRedeemCode(): string {
  return Array.from({ length: CHARACTERS }, () =>
    CROCKFORD_ALPHABET.charAt(randomInt(CROCKFORD_ALPHABET.length)),
  ).join('');
}

/** The code as people read it: `SVC-XXXXXX-XXXXXX-XXXXXX-XXXXXX`. */
export function writeRedeemCode(code: string): string {
  return [PREFIX, ...(code.match(new RegExp(`.{${GROUP_CHARACTERS}}`, 'g')) ?? [])].join('-');
}

/** The last characters: enough to recognise a known code, too few to guess it. */
export function hintOf(code: string): string {
  return code.slice(-HINT_CHARACTERS);
}

/**
 * Reads typed text as the form that is hashed; null when it cannot be a code. Case, hyphens and spaces do not
 * matter, O is read as 0, I and L as 1. The prefix may be missing; the length tells whether it is there,
 * since a code may begin with the same letters.
 */
export function normaliseRedeemCode(text: string): string | null {
  const compact = text.toUpperCase().replaceAll(/[\s\p{Dash}]/gu, '');
  const hasPrefix = compact.length === PREFIX.length + CHARACTERS && compact.startsWith(PREFIX);
  const code = correctLookalikes(hasPrefix ? compact.slice(PREFIX.length) : compact);
  return SHAPE.test(code) ? code : null;
}
