// API keys: made once, shown once, stored as a keyed hash.
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { ApiKeyEntity, UserEntity, type ApiKey, type User } from './entities/identity.ts';
import { makeId } from './ids.ts';
import type { Em } from './orm.ts';
import type { Secrets } from './secrets.ts';

const PREFIX = 'sk-svc_';
const SECRET_CHARACTERS = 43; // 256 bits in base 62
const CHECKSUM_CHARACTERS = 6;
const VISIBLE_CHARACTERS = 8;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes a key for a user. The returned text is the only copy there will ever be. */
export async function createApiKey(
  em: Em,
  secrets: Secrets,
  wish: { userId: string; name: string; expiresAt?: Date },
): Promise<{ id: string; key: string }> {
  const key = makeKeyText();
  const id = makeId('key');
  await em.insert(ApiKeyEntity, {
    id,
    userId: wish.userId,
    name: wish.name,
    ...secrets.hash('api-key', key),
    prefix: key.slice(0, PREFIX.length + VISIBLE_CHARACTERS),
    expiresAt: wish.expiresAt ?? null,
    createdAt: new Date(),
  });
  return { id, key };
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

/** Whether form and checksum are right: a mistyped key costs no query. */
export function isWellFormed(key: string): boolean {
  if (!/^sk-svc_[0-9A-Za-z]{49}$/.test(key)) return false;
  return checksumOf(key.slice(0, -CHECKSUM_CHARACTERS)) === key.slice(-CHECKSUM_CHARACTERS);
}

function makeKeyText(): string {
  const secret = Array.from({ length: SECRET_CHARACTERS }, () =>
    BASE62.charAt(randomInt(BASE62.length)),
  ).join('');
  return `${PREFIX}${secret}${checksumOf(PREFIX + secret)}`;
}

function checksumOf(text: string): string {
  let value = crc32(text);
  let checksum = '';
  for (let position = 0; position < CHECKSUM_CHARACTERS; position += 1) {
    checksum = BASE62.charAt(value % BASE62.length) + checksum;
    value = Math.floor(value / BASE62.length);
  }
  return checksum;
}
