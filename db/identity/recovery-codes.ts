// Recovery codes: one-time substitutes for a code of the authenticator app, easy to write down.
import { randomBytes } from 'node:crypto';
import { RecoveryCodeEntity } from '../entities/identity.ts';
import { makeId } from '../ids.ts';
import type { Secrets } from '../secrets.ts';
import type { Em } from '../database.ts';

const CODES = 10;
const CHARACTERS = 16; // of 5 bits each
const GROUP_CHARACTERS = 4;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'; // Crockford's base 32: no I, L, O, U

export interface RecoveryCodeRow {
  id: string;
  secretKeyId: string;
  /** Hex. */
  hash: string;
}

/** A new set: the texts for their owner, and the rows to store. 80 random bits each, as XXXX-XXXX-XXXX-XXXX. */
export function makeRecoveryCodes(secrets: Secrets): { texts: string[]; rows: RecoveryCodeRow[] } {
  const codes = Array.from({ length: CODES }, makeCode);
  const rows = codes.map((code) => {
    const { secretKeyId, hash } = secrets.hash('recovery-code', code);
    return { id: makeId('rec'), secretKeyId, hash: hash.toString('hex') };
  });
  return { texts: codes.map(writeInGroups), rows };
}

/** Uses a code up. Of several at the same time, one succeeds. */
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

/** Case, spaces and hyphens do not matter, nor do letters that look like digits. Null for what cannot be a code. */
function normaliseRecoveryCode(text: string): string | null {
  const bare = text.toUpperCase().replaceAll(/[\s-]/g, '');
  const code = bare.replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return code.length === CHARACTERS && [...code].every((letter) => ALPHABET.includes(letter)) ? code : null;
}

function makeCode(): string {
  return Array.from(randomBytes(CHARACTERS), (byte) => ALPHABET.charAt(byte & 31)).join('');
}

function writeInGroups(code: string): string {
  return (code.match(new RegExp(`.{${GROUP_CHARACTERS}}`, 'g')) ?? []).join('-');
}
