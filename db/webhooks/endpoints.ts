// The webhooks of users: made, changed, deleted, each change with its audit entry. Secrets are shown once.
import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import type { JsonValue } from '../../domain/json.ts';
import { WEBHOOK_SECRET_OVERLAP_HOURS, type WebhookEventType } from '../../domain/webhooks.ts';
import { lockUntilEnd } from '../advisory-lock.ts';
import { writeAuditEntry, type AuditOrigin } from '../audit-log.ts';
import type { Em } from '../database.ts';
import { WebhookEndpointEntity, type WebhookEndpoint } from '../entities/webhooks.ts';
import { makeId } from '../ids.ts';
import type { Secrets } from '../secrets.ts';

export interface WebhookFields {
  url: string;
  description: string | null;
  events: WebhookEventType[];
  balanceBelow: MicroCredits | null;
}

/** Each field may be left out, and `undefined` means the same. `disabled`: false enables it again. */
export type WebhookChanges = { [Name in keyof WebhookFields]?: WebhookFields[Name] | undefined } & {
  disabled?: boolean | undefined;
};

/** Whose webhook it is, and where the request came from. */
export interface WebhookOwner {
  userId: string;
  origin: AuditOrigin;
}

/** Bytes of a secret: as many as its signature has. */
const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';

/** Makes a webhook if its user has fewer than `endpointsMax`, else answers null. */
export async function createEndpoint(
  em: Em,
  secrets: Secrets,
  { userId, origin }: WebhookOwner,
  fields: WebhookFields,
  endpointsMax: number,
): Promise<{ endpoint: WebhookEndpoint; secret: string } | null> {
  const id = makeId('whk');
  const secret = makeSecret();
  return em.transactional(async (tx) => {
    await lockUntilEnd(tx, 'webhooks', userId);
    if ((await tx.count(WebhookEndpointEntity, { userId })) >= endpointsMax) return null;
    const { secretKeyId, bytes } = sealSecrets(secrets, id, [secret]);
    await tx.insert(WebhookEndpointEntity, { id, userId, ...fields, secretKeyId, secrets: bytes });
    const target = { targetType: 'webhook', targetId: id, userId };
    await writeAuditEntry(tx, origin, { action: 'CREATE_WEBHOOK', ...target, detail: describe(fields) });
    return { endpoint: await requireOwn(tx, userId, id), secret };
  });
}

/** A webhook of this user, or null: another user's webhook and a missing one look the same. */
export async function findOwnEndpoint(em: Em, userId: string, id: string): Promise<WebhookEndpoint | null> {
  return em.findOne(WebhookEndpointEntity, { id, userId }, { refresh: true });
}

/** The webhooks of one user, newest first, older than `beforeId` if given; at most `limit`. */
export async function listOwnEndpoints(
  em: Em,
  userId: string,
  { limit, beforeId }: { limit: number; beforeId: string | null },
): Promise<WebhookEndpoint[]> {
  const where = { userId, ...(beforeId === null ? {} : { id: { $lt: beforeId } }) };
  return em.find(WebhookEndpointEntity, where, { orderBy: { id: 'desc' }, limit });
}

/**
 * Changes the given fields; null for no such webhook. Enabling forgets how long it has been failing. `check`
 * is given the webhook as it is while no other request can change it, and throws to change nothing.
 */
export async function changeEndpoint(
  em: Em,
  { userId, origin }: WebhookOwner,
  id: string,
  { disabled, ...fields }: WebhookChanges,
  check: (before: WebhookEndpoint) => void,
): Promise<WebhookEndpoint | null> {
  return em.transactional(async (tx) => {
    const [found] = await tx.execute<{ wasDisabled: boolean }[]>(sql`
      select disabled_at is not null as "wasDisabled" from webhook_endpoint
      where id = ${id} and user_id = ${userId} for no key update`);
    if (!found) return null;
    check(await requireOwn(tx, userId, id));
    const isSwitched = disabled !== undefined && disabled !== found.wasDisabled;
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
    const switched = {
      disabledAt: disabled ? new Date() : null,
      disabledReason: disabled ? ('owner' as const) : null,
      failingSince: null,
    };
    const changed = { ...given, ...(isSwitched && switched), updatedAt: new Date() };
    await tx.nativeUpdate(WebhookEndpointEntity, { id }, changed);
    const detail = { ...describe(fields), ...(isSwitched && { disabled }) };
    const target = { targetType: 'webhook', targetId: id, userId };
    if (Object.keys(detail).length > 0)
      await writeAuditEntry(tx, origin, { action: 'UPDATE_WEBHOOK', ...target, detail });
    return requireOwn(tx, userId, id);
  });
}

/** Gives it a new secret; the one before signs as well for a day, one that was older no more. */
export async function rotateSecret(
  em: Em,
  secrets: Secrets,
  { userId, origin }: WebhookOwner,
  id: string,
): Promise<{ endpoint: WebhookEndpoint; secret: string } | null> {
  const secret = makeSecret();
  return em.transactional(async (tx) => {
    await tx.execute(sql`select 1 from webhook_endpoint where id = ${id} for no key update`);
    const endpoint = await findOwnEndpoint(tx, userId, id);
    if (!endpoint) return null;
    const kept = openSecrets(secrets, endpoint).slice(0, 1);
    const { secretKeyId, bytes } = sealSecrets(secrets, id, [secret, ...kept]);
    await tx.execute(sql`
      update webhook_endpoint
      set secret_key_id = ${secretKeyId}, secrets = ${bytes}::bytea, updated_at = now(),
          previous_secret_until = now() + make_interval(hours => ${WEBHOOK_SECRET_OVERLAP_HOURS})
      where id = ${id}`);
    const target = { targetType: 'webhook', targetId: id, userId };
    await writeAuditEntry(tx, origin, { action: 'ROTATE_WEBHOOK_SECRET', ...target });
    return { endpoint: await requireOwn(tx, userId, id), secret };
  });
}

/**
 * Deletes a webhook and what is still to be delivered to it. Waits for attempts that are being written
 * (`whileEndpointsExist`), so that nothing is sent once it has returned. Answers false when there was none.
 */
export async function deleteEndpoint(em: Em, { userId, origin }: WebhookOwner, id: string): Promise<boolean> {
  return em.transactional(async (tx) => {
    const rows = await tx.execute<{ id: string }[]>(sql`
      delete from webhook_endpoint where id = ${id} and user_id = ${userId} returning id`);
    if (rows.length === 0) return false;
    // One whose attempt is being recorded is left, since that may wait for this row: it is never sent again.
    for (const again of [sql`attempts = 0`, sql`attempts > 0`])
      await tx.execute(sql`
        delete from webhook_delivery where id in (
          select id from webhook_delivery where endpoint_id = ${id} and state = 'pending' and ${again}
          for update skip locked)`);
    const target = { targetType: 'webhook', targetId: id, userId };
    await writeAuditEntry(tx, origin, { action: 'DELETE_WEBHOOK', ...target });
    return true;
  });
}

/** The secrets that sign now, newest first, as keys of an HMAC. */
export function signingKeysOf(secrets: Secrets, endpoint: WebhookEndpoint, now: Date): readonly KeyObject[] {
  const all = signing.get(endpoint.secrets) ?? openSecrets(secrets, endpoint).map(toKey);
  signing.set(endpoint.secrets, all);
  const { previousSecretUntil: until } = endpoint;
  return until && until > now ? all : all.slice(0, 1);
}

/** The keys of rows that are still in use: the deliveries of one moment share theirs. */
const signing = new WeakMap<Uint8Array, readonly KeyObject[]>();

function toKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'));
}

/** As Standard Webhooks writes a secret, whose bytes follow in base64. */
function makeSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

function sealSecrets(secrets: Secrets, id: string, list: readonly string[]) {
  return secrets.seal('webhook', id, JSON.stringify(list));
}

function openSecrets(secrets: Secrets, { id, secretKeyId, secrets: bytes }: WebhookEndpoint): string[] {
  const list: unknown = JSON.parse(secrets.decrypt('webhook', id, { secretKeyId, bytes }));
  if (!Array.isArray(list)) throw new Error(`the secrets of ${id} are no list`);
  return list.map(String);
}

async function requireOwn(em: Em, userId: string, id: string): Promise<WebhookEndpoint> {
  const endpoint = await findOwnEndpoint(em, userId, id);
  if (!endpoint) throw new Error(`the webhook ${id} is missing`);
  return endpoint;
}

/** The fields as an audit entry tells them, the address without its path and query, which may be secrets. */
function describe(fields: Partial<WebhookChanges>): { [name: string]: JsonValue } {
  const { url, description, events, balanceBelow } = fields;
  return {
    ...(url !== undefined && { origin: new URL(url).origin }),
    ...(description !== undefined && { description }),
    ...(events !== undefined && { events }),
    ...(balanceBelow !== undefined && {
      balanceBelow: balanceBelow === null ? null : toCredits(balanceBelow),
    }),
  };
}
