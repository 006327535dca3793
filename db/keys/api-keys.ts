// API keys: made once, shown once, stored as a keyed hash. How they change: key-changes.ts.
import { sql } from '@mikro-orm/postgresql';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import type { JsonValue } from '../../domain/json.ts';
import { insertAuditEntry, type AuditOrigin } from '../audit-log.ts';
import { ApiKeyEntity, type ApiKey } from '../entities/identity.ts';
import { KeySpendingEntity, type KeySpending } from '../entities/ledger.ts';
import { makeId } from '../ids.ts';
import { makeKeyText, visiblePartOf } from './key-texts.ts';
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

/** A key with what it may spend and has spent. */
export interface OwnKey {
  id: string;
  key: ApiKey;
  spending: KeySpending;
}

/** Each field may be left out, and `undefined` means the same. */
export type Optional<Fields> = { [Name in keyof Fields]?: Fields[Name] | undefined };

export interface NewApiKey extends Optional<KeyLimits> {
  userId: string;
  name: string;
}

/** Makes a key for a user, however many there are. The returned text is its only copy. */
export async function createApiKey(
  em: Em,
  secrets: Secrets,
  input: NewApiKey,
): Promise<{ id: string; key: string }> {
  const created = await insertKey(em, secrets, input, { keysMax: null, origin: null });
  if (!created) throw new Error('the key was not created');
  return created;
}

/**
 * Makes a key, with an audit entry, if the user has fewer than `keysMax` that are not revoked, else null.
 * Keys of one user are made one after the other, so that parallel calls cannot overshoot.
 */
export async function createLimitedApiKey(
  em: Em,
  secrets: Secrets,
  input: NewApiKey,
  { keysMax, origin }: { keysMax: number; origin: AuditOrigin },
): Promise<{ id: string; key: string } | null> {
  return em.transactional(async (tx) => {
    await lockUntilEnd(tx, 'keys', input.userId);
    return insertKey(tx, secrets, input, { keysMax, origin });
  });
}

/** A key of this user, or null: another user's key and a missing one look the same. */
export async function findOwnKey(em: Em, userId: string, id: string): Promise<OwnKey | null> {
  const key = await em.findOne(ApiKeyEntity, { id, userId }, { refresh: true });
  const [own] = key ? await withSpendings(em, [key]) : [];
  return own ?? null;
}

/**
 * Keys of one user, revoked ones too, newest first, older than the key `beforeId` if given; at most `limit`.
 */
export async function listOwnKeys(
  em: Em,
  userId: string,
  page: { limit: number; beforeId: string | null },
): Promise<OwnKey[]> {
  const where = { userId, ...(page.beforeId === null ? {} : { id: { $lt: page.beforeId } }) };
  return withSpendings(
    em,
    await em.find(ApiKeyEntity, where, { orderBy: { id: 'desc' }, limit: page.limit }),
  );
}

/**
 * Waits until no move of the key's credits is under way: those that follow find the key as it is changed now.
 */
export async function lockSpending(tx: Em, keyId: string): Promise<void> {
  await tx.execute(sql`select 1 from key_spending where key_id = ${keyId} for update`);
}

/** The model scope as an array expression; null stays null, because `array_agg` over no rows is null. */
export function storeScope(scope: string[] | null | undefined) {
  return sql`(select array_agg(value) from jsonb_array_elements_text(${scope ? JSON.stringify(scope) : null}::jsonb))`;
}

/** The limits as an audit entry tells them: amounts in credits, null for no limit. */
export function describeLimits(limits: Optional<KeyLimits>): { [name: string]: JsonValue } {
  const { quota, dailyBudget, modelScope, expiresAt } = limits;
  return {
    ...(quota !== undefined && { quota: quota === null ? null : toCredits(quota) }),
    ...(dailyBudget !== undefined && { dailyBudget: dailyBudget === null ? null : toCredits(dailyBudget) }),
    ...(modelScope !== undefined && { modelScope }),
    ...(expiresAt !== undefined && { expiresAt: expiresAt?.toISOString() ?? null }),
  };
}

async function withSpendings(em: Em, keys: readonly ApiKey[]): Promise<OwnKey[]> {
  const where = { keyId: { $in: keys.map(({ id }) => id) } };
  const found = await em.find(KeySpendingEntity, where, { refresh: true });
  const spendings = new Map(found.map((spending) => [spending.keyId, spending]));
  return keys.map((key) => {
    const spending = spendings.get(key.id);
    if (!spending) throw new Error(`the key ${key.id} has no row of its spending`);
    return { id: key.id, key, spending };
  });
}

async function insertKey(
  em: Em,
  secrets: Secrets,
  input: NewApiKey,
  { keysMax, origin }: { keysMax: number | null; origin: AuditOrigin | null },
): Promise<{ id: string; key: string } | null> {
  const key = makeKeyText();
  const id = makeId('key');
  const { userId, name, ...limits } = input;
  const entry = { action: 'CREATE_API_KEY', targetType: 'api_key', targetId: id, userId } as const;
  const detail = { name, ...describeLimits(limits) };
  // One statement: the keys of a user are made one after the other, so every further one holds up the next.
  const told = origin ? sql`, told as (${insertAuditEntry(origin, { ...entry, detail }, 'created')})` : sql``;
  const { secretKeyId, hash } = secrets.hash('api-key', key);
  const [created] = await em.execute<{ id: string }[]>(sql`
    with created as (
      insert into api_key (id, user_id, name, secret_key_id, hash, prefix, model_scope, expires_at)
      select ${id}, ${input.userId}, ${input.name}, ${secretKeyId}, ${hash}::bytea, ${visiblePartOf(key)},
             ${storeScope(input.modelScope)}, ${input.expiresAt ?? null}::timestamptz
      where ${keysMax}::bigint is null
         or (select count(*) from api_key where user_id = ${input.userId} and revoked_at is null) < ${keysMax}::bigint
      returning id
    ) ${told}, counted as (
      insert into key_spending (key_id, quota, daily_budget)
      select id, ${input.quota ?? null}::bigint, ${input.dailyBudget ?? null}::bigint from created
    )
    select id from created`);
  return created ? { id: created.id, key } : null;
}
