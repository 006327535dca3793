// Recovery codes: one-time substitutes for a code of the authenticator app, easy to write down.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import { RecoveryCodeEntity } from '../entities/identity.ts';
import { correctLookalikes, CROCKFORD_ALPHABET } from '../crockford.ts';
import { oneOf } from '../hashes.ts';
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

/**
 * Uses a code up, with an audit entry; false when it is wrong or used. Of several uses at the same time, one
 * succeeds.
 */
export async function useRecoveryCode(
  em: Em,
  secrets: Secrets,
  userId: string,
  text: string,
  origin: AuditOrigin,
): Promise<boolean> {
  const code = normaliseRecoveryCode(text);
  if (code === null) return false;
  return em.transactional(async (tx) => {
    const used = await tx.execute<{ id: string }[]>(sql`
      update recovery_code set used_at = now()
      where user_id = ${userId} and used_at is null and hash = ${oneOf(secrets.hashes('recovery-code', code))}
      returning id`);
    if (used.length === 0) return false;
    const codesLeft = await tx.count(RecoveryCodeEntity, { userId, usedAt: null });
    await writeAuditEntry(tx, origin, {
      action: 'USE_RECOVERY_CODE',
      targetType: 'user',
      targetId: userId,
      userId,
      detail: { codesLeft },
    });
    return true;
  });
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
