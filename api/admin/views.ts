// Presents records as JSON for administrators: a user's content is masked, secrets are absent.
import type { UserRecord } from '../../db/identity/user-records.ts';
import type { Redemption } from '../../db/entities/redeem-codes.ts';
import type { Task } from '../../db/entities/tasks.ts';
import type { RedeemCodeRecord } from '../../db/redeem/redeem-codes.ts';
import { toCredits } from '../../domain/credits.ts';
import type {
  FreshRedeemCodeView,
  RedeemCodeView,
  RedemptionView,
  UserRecordView,
} from '../shapes/administration.ts';
import { presentUser } from '../account/views.ts';
import type { ForeignTaskView } from '../shapes/tasks.ts';

const MASKED = '[masked]';

/** The view of a redeem code for the administrator who creates it, without the code itself. */
export function presentNewRedeemCode(record: RedeemCodeRecord): FreshRedeemCodeView {
  return {
    id: record.id,
    label: record.label,
    credits: toCredits(record.credits),
    maxUses: record.maxUses,
    usedCount: record.usedCount,
    expiresAt: record.expiresAt?.toISOString() ?? null,
    disabledAt: record.disabledAt?.toISOString() ?? null,
  };
}

export function presentRedeemCode(record: RedeemCodeRecord): RedeemCodeView {
  return {
    ...presentNewRedeemCode(record),
    perUserLimit: record.perUserLimit,
    status: record.status,
    codeHint: record.hint,
    createdBy: record.createdBy,
    createdAt: record.createdAt.toISOString(),
  };
}

export function presentRedemption({ id, userId, credits, createdAt }: Redemption): RedemptionView {
  return { id, userId, credits: toCredits(credits), createdAt: createdAt.toISOString() };
}

/** Presents a user to administrators: with the state of the account, and when the user was last seen. */
export function presentUserRecord({ user, account, lastSeenAt }: UserRecord): UserRecordView {
  return {
    ...presentUser(user),
    balance: toCredits(account.balance),
    reserved: toCredits(account.reserved + account.earmarked),
    frozen: Boolean(account.frozenAt),
    lastSeenAt: lastSeenAt?.toISOString() ?? null,
  };
}

/** A task of another user: prompt, payload, results and error texts are masked. */
export function presentForeignTask(task: Task): ForeignTaskView {
  const outputs = task.resultExpiredAt || task.deletedAt ? [] : task.outputs;
  return {
    id: task.id,
    userId: task.userId,
    keyId: task.keyId ?? null,
    mode: task.mode,
    model: task.model,
    status: task.status,
    progress: task.progress,
    creditsEstimate: toCredits(task.creditsEstimate),
    creditsCharged: toCredits(task.creditsCharged),
    billingMode: task.price.billingMode,
    prompt: MASKED,
    requestPayload: MASKED,
    upstreamTaskId: mask(task.upstreamTaskId),
    outputUrl: mask(outputs[0]),
    outputs: outputs.map(({ contentType }) => ({ url: MASKED, contentType })),
    outputText: task.resultExpiredAt ? null : mask(task.outputText),
    errorMessage: mask(task.errorMessage),
    errorCode: task.errorCode ?? null,
    attempt: task.attempt,
    createdAt: task.createdAt.toISOString(),
    updatedAt: task.updatedAt.toISOString(),
    startedAt: task.startedAt?.toISOString() ?? null,
    completedAt: task.completedAt?.toISOString() ?? null,
    cancelRequestedAt: task.cancelRequestedAt?.toISOString() ?? null,
    resultExpiredAt: task.resultExpiredAt?.toISOString() ?? null,
  };
}

/** Replaces a value by a mark, so that only its presence is visible; null stays null. */
function mask(value: unknown): typeof MASKED | null {
  return value === null || value === undefined ? null : MASKED;
}
