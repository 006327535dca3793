// Users, their API keys and their sessions.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const UserEntity = defineEntity({
  name: 'User',
  tableName: 'app_user',
  properties: {
    id: p.text().primary(),
    email: p.text().unique(),
    passwordHash: p.text(),
    permissions: p.array().defaultRaw(`'{}'`),
    disabledAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
export type User = InferEntity<typeof UserEntity>;

export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    name: p.text(),
    /** Which key of the key ring the hash was made with. */
    secretKeyId: p.text(),
    hash: p.blob().unique(),
    /** The beginning of the key, for its owner to recognise it by. */
    prefix: p.text(),
    modelScope: p.array().nullable(),
    expiresAt: p.datetime().nullable(),
    revokedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
export type ApiKey = InferEntity<typeof ApiKeyEntity>;

export const SessionEntity = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    secretKeyId: p.text(),
    hash: p.blob().unique(),
    createdAt: p.datetime().defaultRaw('now()'),
    lastSeenAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
  },
});
export type Session = InferEntity<typeof SessionEntity>;
