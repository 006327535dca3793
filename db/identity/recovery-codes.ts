// Recovery codes: one-time substitutes for a code of the authenticator app, easy to write down.
import { randomBytes } from 'node:crypto';
import { RecoveryCodeEntity } from '../entities/identity.ts';
import { correctLookalikes, CROCKFORD_ALPHABET } from '../crockford.ts';
import { makeId } from '../ids.ts';
import type { Secrets } from '../secrets.ts';
import type { Em } from '../database.ts';

const CODES_PER_SET = 10;
const CHARACTERS = 16; // of 5 bits each
const GROUP_CHARACTERS = 4;

export interface RecoveryCodeRow {
  id: string;
  secretKeyId: string;
  /** Hex. */
  hash: string;
}

/**
 * Makes a set: the texts for their owner, and the rows to store. 80 random bits each, as XXXX-XXXX-XXXX-XXXX.
 */
export function makeRecoveryCodes(secrets: Secrets): { texts: string[]; rows: RecoveryCodeRow[] } {
  const codes = Array.from({ length: CODES_PER_SET }, makeCode);
  const rows = codes.map((code) => {
    const { secretKeyId, hash } = secrets.hash('recovery-code', code);
    return { id: makeId('rec'), secretKeyId, hash: hash.toString('hex') };
  });
  return { texts: codes.map(writeInGroups), rows };
}

/** Uses a code up; false when it is wrong or used. Of several uses at the same time, one succeeds. */
export async function useRecoveryCode(
  em: Em,
  secrets: Secrets,
  userId: string,
  text: string,
): Promise<boolean> {
  const code = normaliseRecoveryCode(text);
  if (code === null) return false;
  const unused = { userId, hash: { $in: secrets.hashes('recovery-code', code) }, usedAt: null };
  return (await em.nativeUpdate(RecoveryCodeEntity, unused, { usedAt: new Date() })) === 1;
}

/** Reads typed text, whatever its case, spaces, hyphens and look-alikes; null for what cannot be a code. */
function normaliseRecoveryCode(text: string): string | null {
  const code = correctLookalikes(text.replaceAll(/[\s-]/g, ''));
  return code.length === CHARACTERS && [...code].every((letter) => CROCKFORD_ALPHABET.includes(letter))
    ? code
    : null;
}

function makeCode(): string {
  return Array.from(randomBytes(CHARACTERS), (byte) => CROCKFORD_ALPHABET.charAt(byte & 31)).join('');
}

function writeInGroups(code: string): string {
  return (code.match(new RegExp(`.{${GROUP_CHARACTERS}}`, 'g')) ?? []).join('-');
}
