// Redeem codes and their redemptions.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const RedeemCodeEntity = defineEntity({
  name: 'RedeemCode',
  tableName: 'redeem_code',
  properties: {
    id: p.text().primary(),
    label: p.text(),
    secretKeyId: p.text(),
    hash: p.blob().unique(),
    /** The last characters, by which administrators recognise a code. */
    hint: p.text(),
    credits: p.bigint('bigint'),
    maxUses: p.integer(),
    perUserLimit: p.integer().nullable(),
    usedCount: p.integer().defaultRaw('0'),
    expiresAt: p.datetime().nullable(),
    disabledAt: p.datetime().nullable(),
    createdBy: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
export type RedeemCode = InferEntity<typeof RedeemCodeEntity>;

export const RedemptionEntity = defineEntity({
  name: 'Redemption',
  tableName: 'redemption',
  properties: {
    id: p.text().primary(),
    codeId: p.text(),
    userId: p.text(),
    /** With the user: the transfer that granted the credits. */
    transferSequence: p.bigint('bigint'),
    credits: p.bigint('bigint'),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});
export type Redemption = InferEntity<typeof RedemptionEntity>;
