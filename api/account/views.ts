// Presents records as JSON for their owner: one function per shape of `api/shapes/`, which the compiler
// compares.
import { toUnixSeconds } from '../../domain/times.ts';
import type { Account, LedgerTransfer } from '../../db/entities/ledger.ts';
import type { Session, User } from '../../db/entities/identity.ts';
import type { OwnKey } from '../../db/keys/api-keys.ts';
import type { KeyHolder } from '../../db/keys/find-key.ts';
import type { KeyUsage } from '../../db/keys/key-usage.ts';
import { CREDITS_PER_USD, toCredits, toUsd, type MicroCredits } from '../../domain/credits.ts';
import type {
  BalanceView,
  KeyView,
  LedgerLineView,
  SessionView,
  TokenUsageView,
  UserView,
} from '../shapes/account.ts';

const DAY_MS = 86_400_000;

export function presentBalance(account: Account): BalanceView {
  return {
    object: 'balance',
    currency: 'credits',
    creditsPerUsd: CREDITS_PER_USD,
    balance: toCredits(account.balance),
    reserved: toCredits(account.reserved + account.earmarked),
    available: toCredits(account.balance - account.reserved - account.earmarked),
    totalGranted: toCredits(account.totalGranted),
    totalCharged: toCredits(account.totalCharged),
    balanceUsd: toUsd(account.balance),
    updatedAt: account.updatedAt.toISOString(),
  };
}

export function presentLedgerLine(line: LedgerTransfer): LedgerLineView {
  return {
    id: line.id,
    type: line.kind,
    amount: toCredits(line.amount),
    balanceAfter: toCredits(line.balanceAfter),
    taskId: line.taskId ?? null,
    requestId: line.requestId ?? null,
    keyId: line.keyId ?? null,
    model: line.model ?? null,
    description: line.description,
    createdAt: line.createdAt.toISOString(),
  };
}

/** Presents an API key without its text, which is only in the answer that creates the key. */
export function presentKey({ key, spending }: OwnKey): KeyView {
  const today = new Date().toISOString().slice(0, 10);
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    quota: orNull(spending.quota),
    used: toCredits(spending.used),
    reserved: toCredits(spending.reserved + spending.earmarked),
    dailyBudget: orNull(spending.dailyBudget),
    usedToday: toCredits(spending.day === today ? spending.dayUsed : 0n),
    dailyResetsAt: new Date(Date.parse(today) + DAY_MS).toISOString(),
    modelScope: key.modelScope ?? null,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
  };
}

/**
 * Presents what a key may spend to its holder. With a quota: granted = used + available + what is set
 * aside, unless the quota was lowered since.
 */
export function presentTokenUsage(key: KeyHolder['key'], usage: KeyUsage): TokenUsageView {
  const { quota, used, reserved, available, dailyBudget, spentToday } = usage;
  const remaining = quota === null ? available : notBelowZero(quota - used - reserved);
  return {
    object: 'token_usage',
    name: key.name,
    total_granted: toCredits(quota ?? used + available),
    total_used: toCredits(used),
    total_available: toCredits(remaining),
    unlimited_quota: quota === null,
    model_limits: Object.fromEntries((key.modelScope ?? []).map((model) => [model, true])),
    model_limits_enabled: Boolean(key.modelScope),
    expires_at: key.expiresAt ? toUnixSeconds(key.expiresAt) : 0,
    daily_budget: orNull(dailyBudget),
    daily_used: dailyBudget === null ? null : toCredits(spentToday),
    daily_remaining: dailyBudget === null ? null : toCredits(notBelowZero(dailyBudget - spentToday)),
    daily_reset_at: dailyBudget === null ? null : toUnixSeconds(usage.dayEndsAt),
    account_available: toCredits(available),
    currency: 'credits',
  };
}

export function presentUser(user: User): UserView {
  return {
    id: user.id,
    email: user.email,
    permissions: user.permissions,
    disabled: Boolean(user.disabledAt),
    twoFactorEnabled: Boolean(user.totpConfirmedAt),
    createdAt: user.createdAt.toISOString(),
  };
}

/** Presents a session to its user. `currentId`: the session that asks. */
export function presentSession(session: Session, currentId: string): SessionView {
  return {
    id: session.id,
    createdAt: session.createdAt.toISOString(),
    lastSeenAt: session.lastSeenAt.toISOString(),
    expiresAt: session.expiresAt.toISOString(),
    ip: session.ip ?? null,
    userAgent: session.userAgent ?? null,
    current: session.id === currentId,
  };
}

function orNull(amount: MicroCredits | null | undefined): number | null {
  return amount === null || amount === undefined ? null : toCredits(amount);
}

function notBelowZero(amount: MicroCredits): MicroCredits {
  return amount < 0n ? 0n : amount;
}
