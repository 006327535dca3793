// Users with their second factors, their API keys and their sessions.
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
    /** The secret, encrypted; not in force until it is confirmed. */
    totpSecret: p.blob().nullable(),
    totpSecretKeyId: p.text().nullable(),
    totpConfirmedAt: p.datetime().nullable(),
    /** The last time step whose code was used: a code works once. */
    totpLastStep: p.bigint('bigint').defaultRaw('0'),
    /** Wrong answers to /api/verify since the last right one. */
    verifyFailures: p.integer().defaultRaw('0'),
    verifyLockedUntil: p.datetime().nullable(),
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
    lastUsedAt: p.datetime().nullable(),
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
    /** Where it was last used; null for sessions that no request began. */
    ip: p.text().nullable(),
    userAgent: p.text().nullable(),
    verifiedAt: p.datetime().nullable(),
    verifiedUntil: p.datetime().nullable(),
    verifyMethod: p.text().$type<'password' | 'totp'>().nullable(),
  },
});
export type Session = InferEntity<typeof SessionEntity>;

/** One-time substitutes for a TOTP code. */
export const RecoveryCodeEntity = defineEntity({
  name: 'RecoveryCode',
  tableName: 'recovery_code',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    secretKeyId: p.text(),
    hash: p.blob().unique(),
    usedAt: p.datetime().nullable(),
  },
});

/** A login whose password was right and whose second factor is still to come. */
export const LoginFlowEntity = defineEntity({
  name: 'LoginFlow',
  tableName: 'login_flow',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    secretKeyId: p.text(),
    hash: p.blob().unique(),
    failures: p.integer().defaultRaw('0'),
    expiresAt: p.datetime(),
  },
});
export type LoginFlow = InferEntity<typeof LoginFlowEntity>;
