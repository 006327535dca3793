// JSON for administrators: redeem codes, grants, audit entries.
import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../domain/audit.ts';
import { userFields } from './account.ts';
import { credits, id, instant } from './basics.ts';

const codeFields = {
  id: id('rdm'),
  label: z.string(),
  credits: credits.describe('For each redemption.'),
  maxUses: z.int(),
  usedCount: z.int(),
  expiresAt: instant.nullable(),
  disabledAt: instant.nullable(),
};
const storedCodeFields = {
  ...codeFields,
  perUserLimit: z.int().nullable(),
  status: z.enum(['active', 'disabled', 'expired', 'exhausted']),
  codeHint: z.string().describe('The last characters of the code.'),
  createdBy: id('usr'),
  createdAt: instant,
};

/** A new redeem code without the code itself, which is added when it is shown for the only time. */
const FRESH_REDEEM_CODE = z.strictObject(codeFields);
export type FreshRedeemCodeView = z.output<typeof FRESH_REDEEM_CODE>;

export const NEW_REDEEM_CODE = z
  .strictObject({
    ...codeFields,
    code: z.string().optional().describe('The code itself. Shown here and never again.'),
    codeShownOnce: z.literal(true).optional().describe('Instead of the code, when the answer is a repeat.'),
  })
  .meta({ id: 'NewRedeemCode' });

export const REDEEM_CODE = z.strictObject(storedCodeFields).meta({ id: 'RedeemCode' });
export type RedeemCodeView = z.output<typeof REDEEM_CODE>;

const REDEMPTION = z
  .strictObject({ id: id('rdp'), userId: id('usr'), credits, createdAt: instant })
  .meta({ id: 'Redemption' });
export type RedemptionView = z.output<typeof REDEMPTION>;

export const REDEEM_CODE_WITH_REDEMPTIONS = z
  .strictObject({
    ...storedCodeFields,
    redemptions: z.array(REDEMPTION).describe('The newest, at most 1,000.'),
  })
  .meta({ id: 'RedeemCodeWithRedemptions' });

export const GRANT_RECEIPT = z.strictObject({
  ledgerEntryId: id('led'),
  balance: credits,
  available: credits,
});

export const USER_RECORD = z
  .strictObject({
    ...userFields,
    balance: credits,
    reserved: credits.describe('Set aside for tasks and calls that have not ended.'),
    frozen: z.boolean().describe('Whether the account may not spend, after a broken rule of money.'),
    lastSeenAt: instant.nullable().describe('The last use of a living session or a key, or the last login.'),
  })
  .meta({ id: 'UserRecord', description: 'A user as administrators see it.' });
export type UserRecordView = z.output<typeof USER_RECORD>;

export const AUDIT_ENTRY = z
  .strictObject({
    id: id('aud'),
    action: z.string().meta({ description: 'What was done.', examples: [...AUDIT_ACTIONS] }),
    actor: z
      .strictObject({ id: id('usr'), email: z.string() })
      .nullable()
      .describe('Null for the operator’s command line; to users, for all others but themselves.'),
    target: z.strictObject({ type: z.string(), id: z.string() }),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
    requestId: z.string().nullable(),
    detail: z.record(z.string(), z.unknown()),
    createdAt: instant,
  })
  .meta({ id: 'AuditEntry', description: 'Who changed what, and from where.' });
export type AuditEntryView = z.output<typeof AUDIT_ENTRY>;
