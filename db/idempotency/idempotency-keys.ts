// Idempotency keys: a request is recorded in the transaction of its effect, so that both exist or neither.
import { createHash, createHmac } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Sealed, Secrets } from '../secrets.ts';
import type { Em } from '../database.ts';

/** Time after which a key may be used anew, by the database's clock. */
export const KEY_KEPT_HOURS = 24;

const BATCH = 1_000;
/** PostgreSQL's code for a lock that was not to be had within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

/** A request with an idempotency key, as its row identifies it. */
export interface IdentifiedRequest {
  userId: string;
  method: string;
  /** The path with its ids, without the query. */
  path: string;
  keyHash: Buffer;
  fingerprint: Buffer;
}

/** What a chat call writes of its idempotency key, in the statement that reserves for it. */
export interface KeyClaim {
  request: IdentifiedRequest;
  /** Id of the row. */
  rowId: string;
  /** The call of an earlier request with the key that was undone: its row is taken over. Null without. */
  undoneId: string | null;
}

/** An answer as it is stored, of the row `rowId`. */
export interface SealedAnswer extends Sealed {
  rowId: string;
}

/** What the first request answered, so that repeats get the same answer. */
export type StoredAnswer =
  | { kind: 'reply'; status: number; body: unknown; headers: Readonly<Record<string, string>> }
  | {
      kind: 'error';
      code: ErrorCode;
      message: string;
      param: string | null;
      extra: Readonly<Record<string, number | string>>;
      headers: Readonly<Record<string, string>>;
    };

/**
 * Identifies a request by hashes. The key itself is not stored, since callers may put anything into it. The
 * fingerprint is keyed with it, so that a reader of the table cannot test which prompt it belongs to. Neither
 * uses the key ring, because two processes with different rings must find the same row.
 */
export function identifyRequest(
  target: { userId: string; method: string; path: string },
  key: string,
  content: string,
): IdentifiedRequest {
  const keyHash = createHash('sha256').update(key).digest();
  const fingerprint = createHmac('sha256', key).update(content).digest();
  return { ...target, keyHash, fingerprint };
}

/**
 * Takes the key; false when it is taken: roll back. Call it first in the transaction of the effect: a second
 * request waits here until the first has committed or rolled back, and holds no lock that others need.
 * `leaseSeconds` is how long the answer may take.
 */
export async function claimKey(
  tx: Em,
  request: IdentifiedRequest,
  { rowId, leaseSeconds }: { rowId: string; leaseSeconds: number },
): Promise<boolean> {
  const { userId, method, path, keyHash, fingerprint } = request;
  try {
    const rows = await tx.execute<{ id: string }[]>(sql`
      insert into idempotency_key (id, user_id, method, path, key_hash, fingerprint, leased_until)
      values (${rowId}, ${userId}, ${method}, ${path}, ${keyHash}::bytea, ${fingerprint}::bytea,
              now() + make_interval(secs => ${leaseSeconds}))
      on conflict (user_id, method, path, key_hash) do update
      set id = excluded.id, fingerprint = excluded.fingerprint, subject_id = null, answer = null,
          answer_secret_key_id = null, created_at = excluded.created_at, leased_until = excluded.leased_until
      where idempotency_key.created_at <= now() - make_interval(hours => ${KEY_KEPT_HOURS})
      returning id`);
    return rows.length > 0;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

/**
 * Whether a statement of chat calls failed because another transaction, which has not ended in time, claims
 * the key of one of them. A wait for a counter of money is none for a key.
 */
export function isWaitForKey(error: unknown): boolean {
  return isLockTimeout(error) && 'where' in error && String(error.where).includes('function claim_keys(');
}

/** The claims of calls as `claim_keys` reads them; null when none of the calls has one. */
export function describeClaims(claims: readonly (KeyClaim | null)[]): string | null {
  const described = claims.flatMap((claim, index) => {
    if (!claim) return [];
    const { method, path, keyHash, fingerprint } = claim.request;
    const hashes = { key_hash: keyHash.toString('hex'), fingerprint: fingerprint.toString('hex') };
    return [{ n: index + 1, id: claim.rowId, method, path, ...hashes, undone_id: claim.undoneId }];
  });
  return described.length > 0 ? JSON.stringify(described) : null;
}

/** Stores the answer of the row, encrypted, in the transaction of its effect. */
export async function storeAnswer(
  em: Em,
  secrets: Secrets,
  rowId: string,
  answer: StoredAnswer,
): Promise<void> {
  const { secretKeyId, bytes } = secrets.seal('answer', rowId, JSON.stringify(answer));
  await em.execute(sql`
    update idempotency_key set answer = ${bytes}::bytea, answer_secret_key_id = ${secretKeyId}
    where id = ${rowId} and answer is null`);
}

/** Frees a key whose request had no effect. A stored answer stays. */
export async function releaseKey(em: Em, rowId: string): Promise<void> {
  await em.execute(sql`delete from idempotency_key where id = ${rowId} and answer is null`);
}

/** The same where the request begun `subjectId`, which was undone. A later request with the key keeps it. */
export async function releaseUndoneKey(em: Em, rowId: string, subjectId: string): Promise<void> {
  await em.execute(sql`
    delete from idempotency_key where id = ${rowId} and subject_id = ${subjectId} and answer is null`);
}

/** Removes rows whose time is over, a batch at a time. Returns how many. */
export async function removeExpiredKeys(em: Em): Promise<number> {
  const rows = await em.execute<{ id: string }[]>(sql`
    delete from idempotency_key where id in (
      select id from idempotency_key where created_at <= now() - make_interval(hours => ${KEY_KEPT_HOURS})
      order by created_at limit ${BATCH} for update skip locked
    ) returning id`);
  return rows.length;
}

function isLockTimeout(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
}
