// JSON of an account: balance, ledger, API keys, user, verification, redemption.
import { z } from 'zod';
import { CREDITS_PER_USD } from '../../domain/credits.ts';
import { PERMISSIONS } from '../../domain/permissions.ts';
import { credits, id, instant, unixSeconds } from './basics.ts';

const balanceFields = {
  object: z.literal('balance'),
  currency: z.literal('credits'),
  creditsPerUsd: z.literal(CREDITS_PER_USD),
  balance: credits,
  reserved: credits.describe('Set aside for tasks and calls that have not ended.'),
  available: credits.describe('`balance` − `reserved`: what can be spent next.'),
  totalGranted: credits.describe('Ever added, redeemed codes included.'),
  totalCharged: credits,
  balanceUsd: z.number().describe('`balance` in US dollars.'),
  updatedAt: instant,
};

export const LEDGER_LINE = z
  .strictObject({
    id: id('led'),
    type: z.enum(['grant', 'redeem', 'charge', 'refund', 'adjustment']),
    amount: credits.describe('Signed: charges are negative.'),
    balanceAfter: credits,
    taskId: z.string().nullable(),
    requestId: z.string().nullable(),
    keyId: z.string().nullable(),
    model: z.string().nullable(),
    description: z.string(),
    createdAt: instant,
  })
  .meta({ id: 'LedgerEntry', description: 'One change of a balance. Never altered afterwards.' });
export type LedgerLineView = z.output<typeof LEDGER_LINE>;

export const BALANCE = z.strictObject(balanceFields);
export type BalanceView = z.output<typeof BALANCE>;

export const BALANCE_EVENT = z
  .strictObject({
    balance: credits,
    reserved: balanceFields.reserved,
    available: balanceFields.available,
  })
  .meta({ id: 'BalanceEvent', description: 'What an account has, as the stream of events tells it.' });
export type BalanceEventView = z.output<typeof BALANCE_EVENT>;

export const BALANCE_WITH_LEDGER = z
  .strictObject({
    ...balanceFields,
    ledger: z.array(LEDGER_LINE).optional().describe('With `includeLedger=1`: newest first.'),
    ledgerHasMore: z.boolean().optional(),
    ledgerNextCursor: z.string().nullable().optional(),
  })
  .meta({ id: 'Balance', description: 'The balance of an account.' });

const limitsNow = 'Null without a daily budget.';

export const TOKEN_USAGE = z
  .strictObject({
    object: z.literal('token_usage'),
    name: z.string(),
    total_granted: credits,
    total_used: credits,
    total_available: credits,
    unlimited_quota: z.boolean().describe('The key has no quota of its own; the account is its limit.'),
    model_limits: z.record(z.string(), z.literal(true)),
    model_limits_enabled: z.boolean(),
    expires_at: unixSeconds.describe('Unix seconds; 0 = never.'),
    daily_budget: credits.nullable().describe(limitsNow),
    daily_used: credits.nullable().describe(limitsNow),
    daily_remaining: credits.nullable().describe(limitsNow),
    daily_reset_at: unixSeconds.nullable().describe('Unix seconds: the next midnight, UTC.'),
    account_available: credits,
    currency: z.literal('credits'),
  })
  .meta({ id: 'TokenUsage', description: 'What a key may still spend. All amounts are credits.' });
export type TokenUsageView = z.output<typeof TOKEN_USAGE>;

const keyFields = {
  id: id('key'),
  name: z.string(),
  prefix: z.string().describe('The first characters, to recognise it by.'),
  quota: credits.nullable().describe('What it may spend in all; null = no limit of its own.'),
  used: credits,
  reserved: credits.describe('Set aside for its tasks and calls that have not ended.'),
  dailyBudget: credits.nullable().describe('What it may spend in a day (UTC).'),
  usedToday: credits.describe('Charged on this day (UTC).'),
  dailyResetsAt: instant.describe('The next midnight, UTC.'),
  modelScope: z.array(z.string()).nullable().describe('The models it may use; null = all.'),
  expiresAt: instant.nullable(),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
  revokedAt: instant.nullable(),
};

export const KEY = z
  .strictObject(keyFields)
  .meta({ id: 'ApiKey', description: 'An API key, without its text.' });
export type KeyView = z.output<typeof KEY>;

export const NEW_KEY = z
  .strictObject({
    ...keyFields,
    key: z.string().describe('The key itself. Shown here and never again.'),
  })
  .meta({ id: 'NewApiKey' });

/** The fields of a user, for its own eyes and for administrators. */
export const userFields = {
  id: id('usr'),
  email: z.string(),
  permissions: z.array(z.string()).meta({ examples: [[...PERMISSIONS]] }),
  disabled: z.boolean(),
  twoFactorEnabled: z.boolean(),
  createdAt: instant,
};

export const USER = z.strictObject(userFields).meta({ id: 'User' });
export type UserView = z.output<typeof USER>;

export const SESSION = z
  .strictObject({
    id: id('ses'),
    createdAt: instant,
    lastSeenAt: instant.describe('To the minute.'),
    expiresAt: instant.describe('When it ends at the latest; twelve hours without use end it, too.'),
    ip: z.string().nullable().describe('Where it was last used.'),
    userAgent: z.string().nullable(),
    current: z.boolean().describe('Whether it is the session that asks.'),
  })
  .meta({ id: 'Session', description: 'A login.' });
export type SessionView = z.output<typeof SESSION>;

export const SECOND_FACTOR_NEEDED = z
  .strictObject({
    twoFactorRequired: z.literal(true),
    flowToken: z.string().describe('For POST /api/auth/login/2fa.'),
  })
  .meta({ id: 'SecondFactorNeeded', description: 'The password was right; a code is needed too.' });

const method = z.enum(['password', 'totp']);

export const VERIFICATION = z
  .strictObject({
    verified: z.boolean(),
    method: method.nullable(),
    verifiedAt: instant.nullable(),
    expiresAt: instant.nullable(),
    methods: z.array(method).describe('What this user can verify with.'),
  })
  .meta({ id: 'Verification', description: 'Whether this session has a fresh proof of who is there.' });

export const VERIFIED = z.strictObject({
  verified: z.literal(true),
  method,
  verifiedAt: instant,
  expiresAt: instant,
});

export const REDEMPTION_RECEIPT = z.strictObject({
  credits: credits.describe('What the code was worth.'),
  balance: credits,
  available: credits,
  redeemedAt: instant,
  ledgerEntryId: id('led'),
});
