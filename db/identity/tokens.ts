// Tokens of sessions and login flows: random bits for the caller, and a check that needs no query.
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../secrets.ts';

type TokenPurpose = 'session' | 'login-flow';

const RANDOM_BYTES = 32;
/** Enough that a guessed token costs no query; what keeps it from being guessed are the random bytes. */
const CHECK_BYTES = 6;
const TOKEN = /^([\w-]{43})([\w-]{8})$/;

/** Makes 256 random bits and their check as a string for cookies and bodies. */
export function makeToken(secrets: Secrets, purpose: TokenPurpose): string {
  const random = randomBytes(RANDOM_BYTES).toString('base64url');
  return `${random}${checkOf(secrets.hash(purpose, messageOf(random)).hash)}`;
}

/** Whether a key of the ring made this token; anything else cannot exist and needs no query. */
export function isToken(secrets: Secrets, purpose: TokenPurpose, text: string): boolean {
  const [, random, check] = TOKEN.exec(text) ?? [];
  if (random === undefined) return false;
  return secrets.hashes(purpose, messageOf(random)).some((hash) => checkOf(hash) === check);
}

/** No token begins like this, so that a check tells nothing about the hash that is stored of a token. */
function messageOf(random: string): string {
  return `check:${random}`;
}

function checkOf(hash: Buffer): string {
  return hash.subarray(0, CHECK_BYTES).toString('base64url');
}
