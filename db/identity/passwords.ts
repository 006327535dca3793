// Passwords as argon2id, two computations at a time: they share the thread pool with DNS and files.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import pLimit from 'p-limit';

const MEMORY_KIB = 19_456;
const PASSES = 2;
const PARALLELISM = 1;
const HASH_BYTES = 32;
const PARALLEL_COMPUTATIONS_MAX = 2;
/** Computations under way or waiting; at about 25 ms each, the last one waits for less than a second. */
export const PASSWORDS_IN_FLIGHT_MAX = 64;

export const PASSWORD_CHARACTERS_MIN = 8;
export const PASSWORD_CHARACTERS_MAX = 256;

/** Thrown instead of waiting when too many passwords are being hashed. */
export class TooManyPasswords extends Error {}

const compute = promisify(argon2);
/** The queue of this process, since the thread pool is the process's: no caller may have one of its own. */
const queue = pLimit(PARALLEL_COMPUTATIONS_MAX);

/**
 * Answers a PHC string: the hash with everything needed to check it later. Throws TooManyPasswords when
 * `PASSWORDS_IN_FLIGHT_MAX` others are under way.
 */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt);
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}$${encode(salt)}$${encode(hash)}`;
}

/**
 * Compares in constant time. `stored` is null for an unknown user: that takes as long as a wrong password.
 * Throws TooManyPasswords as `hashPassword` does.
 */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const parts = (stored ?? '').split('$');
  const salt = Buffer.from(parts[4] ?? 'AAAAAAAAAAAAAAAAAAAAAA', 'base64');
  const expected = Buffer.from(parts[5] ?? '', 'base64');
  const actual = await derive(password.slice(0, PASSWORD_CHARACTERS_MAX), salt);
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

/** How many passwords wait to be hashed. */
export function countWaitingPasswords(): number {
  return queue.pendingCount;
}

async function derive(password: string, salt: Buffer): Promise<Buffer> {
  if (queue.activeCount + queue.pendingCount >= PASSWORDS_IN_FLIGHT_MAX) throw new TooManyPasswords();
  const parameters = { memory: MEMORY_KIB, passes: PASSES, parallelism: PARALLELISM, tagLength: HASH_BYTES };
  return queue(() => compute('argon2id', { message: password, nonce: salt, ...parameters }));
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
