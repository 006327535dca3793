// Records as JSON for their owner: one function per shape of api/openapi/shapes/, which the compiler compares.
import type { LedgerLine } from '../../db/ledger/accounts.ts';
import type { Account } from '../../db/entities/ledger.ts';
import type { ApiKey, User } from '../../db/entities/identity.ts';
import type { Task, TaskEventRow } from '../../db/entities/tasks.ts';
import type { KeyUsage } from '../../db/keys/key-usage.ts';
import { METERS, type Model } from '../../domain/catalog/catalog.ts';
import { CREDITS_PER_USD, toCredits, toUsd, type MicroCredits } from '../../domain/credits.ts';
import type { PricedOrder } from '../tasks/submit-task.ts';
import type {
  BalanceView,
  KeyView,
  LedgerLineView,
  TokenUsageView,
  UserView,
} from '../shapes/account.ts';
import type { ModelView } from '../shapes/models.ts';
import type {
  EstimateView,
  ImageTaskView,
  TaskEventView,
  TaskView,
  VideoTaskView,
} from '../shapes/tasks.ts';
import { linkTo } from '../tasks/results.ts';
import type { Gateway } from '../context.ts';

/** The console's task. `prompt` is the owner's own, as written. */
export function presentTask(gateway: Gateway, task: Task, prompt: string | undefined): TaskView {
  const outputs = task.outputs.map(({ key, contentType }) => ({ url: linkTo(gateway, key), contentType }));
  return {
    id: task.id,
    mode: task.mode,
    model: task.model,
    status: task.status,
    progress: task.progress,
    creditsEstimate: toCredits(task.creditsEstimate),
    creditsCharged: toCredits(task.creditsCharged),
    upstreamTaskId: task.upstreamTaskId ?? null,
    outputUrl: outputs[0]?.url ?? null,
    outputs,
    outputText: task.outputText ?? null,
    errorMessage: task.errorMessage ?? null,
    errorCode: task.errorCode ?? null,
    requestPayload: presentPayload(task, prompt),
    attempt: task.attempt,
    createdAt: task.createdAt.toISOString(),
    updatedAt: task.updatedAt.toISOString(),
    startedAt: task.startedAt?.toISOString() ?? null,
    completedAt: task.completedAt?.toISOString() ?? null,
    cancelRequestedAt: task.cancelRequestedAt?.toISOString() ?? null,
  };
}

/** The object of the image endpoints. A cancelled task reads as failed here, and only here. */
export function presentImageTask(
  gateway: Gateway,
  task: Task,
  inline: readonly (string | null)[] = [],
): ImageTaskView {
  const urls = task.outputs.map(({ key }) => linkTo(gateway, key));
  const { status } = task;
  const failed = status === 'failed' || status === 'cancelled';
  const message = task.errorMessage ?? 'The task was cancelled.';
  return {
    id: task.id,
    object: 'generation.task',
    model: task.model,
    status: failed ? 'failed' : status,
    progress: task.progress,
    creditsEstimate: toCredits(task.creditsEstimate),
    created_at: unixSeconds(task.createdAt),
    creditsCharged: toCredits(task.creditsCharged),
    upstreamTaskId: task.upstreamTaskId ?? null,
    outputUrl: urls[0] ?? null,
    ...(task.status === 'completed' && {
      result: {
        data: urls.map((url, index) => ({ url, ...(inline[index] && { b64_json: inline[index] }) })),
      },
    }),
    ...(failed && { errorMessage: message, error: { code: task.errorCode ?? null, message } }),
    ...(task.completedAt && { completed_at: unixSeconds(task.completedAt) }),
  };
}

/** The `data` of the video endpoints. */
export function presentVideoTask(gateway: Gateway, task: Task, prompt: string | undefined): VideoTaskView {
  const output = task.outputs[0];
  return {
    id: task.id,
    model: task.model,
    status: task.status,
    progress: task.progress,
    creditsEstimate: toCredits(task.creditsEstimate),
    creditsCharged: toCredits(task.creditsCharged),
    upstreamTaskId: task.upstreamTaskId ?? null,
    outputUrl: output ? linkTo(gateway, output.key) : null,
    errorMessage: task.errorMessage ?? null,
    requestPayload: presentPayload(task, prompt),
    billingMode: task.price.billingMode,
    createdAt: task.createdAt.toISOString(),
  };
}

export function presentEvent(event: TaskEventRow): TaskEventView {
  return {
    at: event.at.toISOString(),
    event: event.event,
    attempt: event.attempt,
    detail: event.detail ?? null,
  };
}

export function presentEstimate({ model, quote }: PricedOrder): EstimateView {
  return {
    creditsEstimate: toCredits(quote.total),
    billingMode: model.billingMode,
    breakdown: quote.lines.map(({ item, quantity, amount }) => ({
      item,
      quantity,
      credits: toCredits(amount),
    })),
  };
}

export function presentModel(model: Model): ModelView {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.family,
    kind: model.kind,
    family: model.family,
    billing_mode: model.billingMode,
    limits: model.limits,
    price: model.price.map(({ item, meter, credits }) => ({
      item,
      unit: METERS[meter],
      credits: toCredits(credits),
    })),
  };
}

export function presentBalance(account: Account): BalanceView {
  return {
    object: 'balance',
    currency: 'credits',
    creditsPerUsd: CREDITS_PER_USD,
    balance: toCredits(account.balance),
    reserved: toCredits(account.reserved),
    available: toCredits(account.balance - account.reserved),
    totalGranted: toCredits(account.totalGranted),
    totalCharged: toCredits(account.totalCharged),
    balanceUsd: toUsd(account.balance),
    updatedAt: account.updatedAt.toISOString(),
  };
}

export function presentLedgerLine(line: LedgerLine): LedgerLineView {
  return {
    id: line.id,
    type: line.type,
    amount: toCredits(line.amount),
    balanceAfter: toCredits(line.balanceAfter),
    taskId: line.taskId,
    requestId: line.requestId,
    keyId: line.keyId,
    model: line.model,
    description: line.description,
    createdAt: line.createdAt.toISOString(),
  };
}

/** Without the key itself: that stands only in the answer that creates it. */
export function presentKey(key: ApiKey): KeyView {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    quota: orNull(key.quota),
    used: toCredits(key.used),
    dailyBudget: orNull(key.dailyBudget),
    modelScope: key.modelScope ?? null,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
  };
}

/** For the key's holder. With a quota: granted = used + available + what is set aside, unless it was lowered since. */
export function presentTokenUsage(key: ApiKey, usage: KeyUsage): TokenUsageView {
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
    expires_at: key.expiresAt ? unixSeconds(key.expiresAt) : 0,
    daily_budget: orNull(dailyBudget),
    daily_used: dailyBudget === null ? null : toCredits(spentToday),
    daily_remaining: dailyBudget === null ? null : toCredits(notBelowZero(dailyBudget - spentToday)),
    daily_reset_at: dailyBudget === null ? null : unixSeconds(usage.dayEndsAt),
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

function presentPayload(task: Task, prompt: string | undefined) {
  if (prompt === undefined) return task.requestPayload;
  const isConversation = 'messages' in task.requestPayload;
  return { ...task.requestPayload, ...(isConversation ? { messages: JSON.parse(prompt) } : { prompt }) };
}

function orNull(amount: MicroCredits | null | undefined): number | null {
  return amount === null || amount === undefined ? null : toCredits(amount);
}

function notBelowZero(amount: MicroCredits): MicroCredits {
  return amount < 0n ? 0n : amount;
}

function unixSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
