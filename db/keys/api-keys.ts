// API keys: made once, shown once, stored as a keyed hash; their limits may change until they are revoked.
import { sql } from '@mikro-orm/postgresql';
import type { MicroCredits } from '../../domain/credits.ts';
import { ApiKeyEntity, UserEntity, type ApiKey, type User } from '../entities/identity.ts';
import { makeId } from '../ids.ts';
import { isWellFormed, makeKeyText, visiblePartOf } from './key-texts.ts';
import type { Secrets } from '../secrets.ts';
import { lockUntilEnd } from '../advisory-lock.ts';
import type { Em } from '../database.ts';

/** The limits of a key; null is no limit. */
export interface KeyLimits {
  quota: MicroCredits | null;
  dailyBudget: MicroCredits | null;
  modelScope: string[] | null;
  expiresAt: Date | null;
}

/** Each field may be left out, and `undefined` means the same. */
type Optional<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined };

export interface NewApiKey extends Optional<KeyLimits> {
  userId: string;
  name: string;
}

export type KeyChanges = Optional<KeyLimits & { name: string }>;

/** Makes a key for a user, however many there are. The returned text is its only copy. */
export async function createApiKey(
  em: Em,
  secrets: Secrets,
  input: NewApiKey,
): Promise<{ id: string; key: string }> {
  const created = await insertKey(em, secrets, input, null);
  if (!created) throw new Error('the key was not created');
  return created;
}

/**
 * Makes a key if the user has fewer than `keysMax` that are not revoked, else answers null. Keys of one user
 * are made one after the other, so that parallel calls cannot overshoot.
 */
export async function createLimitedApiKey(
  em: Em,
  secrets: Secrets,
  input: NewApiKey,
  keysMax: number,
): Promise<{ id: string; key: string } | null> {
  return em.transactional(async (tx) => {
    await lockUntilEnd(tx, 'keys', input.userId);
    return insertKey(tx, secrets, input, keysMax);
  });
}

/** The key and its user, or null for a key that is malformed, unknown or revoked. */
export async function findApiKey(
  em: Em,
  secrets: Secrets,
  key: string,
): Promise<{ key: ApiKey; user: User } | null> {
  if (!isWellFormed(key)) return null;
  const found = await em.findOne(ApiKeyEntity, {
    hash: { $in: secrets.hashes('api-key', key) },
    revokedAt: null,
  });
  const user = found && (await em.findOne(UserEntity, { id: found.userId }));
  return user ? { key: found, user } : null;
}

/** A key of this user, or null: another user's key and a missing one look the same. */
export async function findOwnKey(em: Em, userId: string, id: string): Promise<ApiKey | null> {
  return em.findOne(ApiKeyEntity, { id, userId }, { refresh: true });
}

/**
 * Keys of one user, revoked ones too, newest first, older than the key `beforeId` if given; at most `limit`.
 */
export async function listOwnKeys(
  em: Em,
  userId: string,
  page: { limit: number; beforeId: string | null },
): Promise<ApiKey[]> {
  const where = { userId, ...(page.beforeId === null ? {} : { id: { $lt: page.beforeId } }) };
  return em.find(ApiKeyEntity, where, { orderBy: { id: 'desc' }, limit: page.limit });
}

/** Changes the given fields of a key that is not revoked; null removes a limit. Answers the changed key. */
export async function changeKey(
  em: Em,
  userId: string,
  id: string,
  changes: KeyChanges,
): Promise<ApiKey | 'not_found' | 'revoked'> {
  const { name, quota, dailyBudget, modelScope, expiresAt } = changes;
  const [changed] = await em.execute<{ id: string }[]>(sql`
    update api_key
    set name = coalesce(${name ?? null}, name),
        quota = case when ${quota === undefined} then quota else ${quota ?? null}::bigint end,
        daily_budget = case when ${dailyBudget === undefined} then daily_budget else ${dailyBudget ?? null}::bigint end,
        model_scope = case when ${modelScope === undefined} then model_scope else ${storeScope(modelScope)} end,
        expires_at = case when ${expiresAt === undefined} then expires_at else ${expiresAt ?? null}::timestamptz end
    where id = ${id} and user_id = ${userId} and revoked_at is null
    returning id`);
  const key = await findOwnKey(em, userId, id);
  if (!key) return 'not_found';
  return changed ? key : 'revoked';
}

/** Revokes a key: once committed, it spends nothing. Answers the key, also when it was revoked before. */
export async function revokeKey(em: Em, userId: string, id: string): Promise<ApiKey | null> {
  await em.execute(sql`
    update api_key set revoked_at = now() where id = ${id} and user_id = ${userId} and revoked_at is null`);
  return findOwnKey(em, userId, id);
}

async function insertKey(
  em: Em,
  secrets: Secrets,
  input: NewApiKey,
  keysMax: number | null,
): Promise<{ id: string; key: string } | null> {
  const key = makeKeyText();
  const { secretKeyId, hash } = secrets.hash('api-key', key);
  const [created] = await em.execute<{ id: string }[]>(sql`
    insert into api_key (id, user_id, name, secret_key_id, hash, prefix, quota, daily_budget, model_scope, expires_at)
    select ${makeId('key')}, ${input.userId}, ${input.name}, ${secretKeyId}, ${hash}::bytea, ${visiblePartOf(key)},
           ${input.quota ?? null}::bigint, ${input.dailyBudget ?? null}::bigint,
           ${storeScope(input.modelScope)}, ${input.expiresAt ?? null}::timestamptz
    where ${keysMax}::bigint is null
       or (select count(*) from api_key where user_id = ${input.userId} and revoked_at is null) < ${keysMax}::bigint
    returning id`);
  return created ? { id: created.id, key } : null;
}

/** The model scope as an array expression; null stays null, because `array_agg` over no rows is null. */
function storeScope(scope: string[] | null | undefined) {
  return sql`(select array_agg(value) from jsonb_array_elements_text(${scope ? JSON.stringify(scope) : null}::jsonb))`;
}
