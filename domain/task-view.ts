// The view of a task for its owner: the same in the console, in the stream of events and in webhooks.
import { toCredits, type MicroCredits } from './credits.ts';
import type { JsonValue } from './json.ts';
import type { Order } from './orders/order.ts';
import { chargeLines, quote, type Evidence, type PriceSnapshot, type QuoteLine } from './pricing.ts';
import type { TaskMode, TaskStatus } from './tasks.ts';

/** The columns of a task that its owner sees. */
export interface TaskColumns {
  id: string;
  keyId?: string | null | undefined;
  mode: TaskMode;
  model: string;
  status: TaskStatus;
  progress: number;
  ordered: Order;
  creditsEstimate: MicroCredits;
  creditsCharged: MicroCredits;
  outputs: readonly { key: string; contentType: string; previewKey?: string }[];
  outputText?: string | null | undefined;
  upstreamTaskId?: string | null | undefined;
  errorCode?: string | null | undefined;
  errorMessage?: string | null | undefined;
  attempt: number;
  createdAt: Date;
  updatedAt: Date;
  startedAt?: Date | null | undefined;
  completedAt?: Date | null | undefined;
  cancelRequestedAt?: Date | null | undefined;
  /** When the result began to be removed by age. */
  resultExpiredAt?: Date | null | undefined;
  /** When its owner deleted it; its files may still be there for a moment. */
  deletedAt?: Date | null | undefined;
}

/** What the view takes from elsewhere. `linkTo` signs the link to a file of the task. */
export interface TaskViewParts {
  price: PriceSnapshot;
  evidence: Evidence;
  refunded: MicroCredits;
  requestPayload: { [field: string]: JsonValue };
  linkTo: (key: string) => string;
}

export function viewTask(task: TaskColumns, parts: TaskViewParts) {
  const { price, evidence, refunded, requestPayload, linkTo } = parts;
  const kept = task.resultExpiredAt || task.deletedAt ? [] : task.outputs;
  const outputs = kept.map(({ key, contentType, previewKey }) => ({
    url: linkTo(key),
    contentType,
    previewUrl: previewKey === undefined ? null : linkTo(previewKey),
  }));
  const charged = task.status === 'completed' ? chargeLines(price, task.ordered, evidence) : [];
  return {
    id: task.id,
    keyId: task.keyId ?? null,
    mode: task.mode,
    model: task.model,
    status: task.status,
    progress: task.progress,
    creditsEstimate: toCredits(task.creditsEstimate),
    creditsCharged: toCredits(task.creditsCharged),
    creditsRefunded: toCredits(refunded),
    billingMode: price.billingMode,
    /** The price lines of the estimate, and once it is completed those of the charge. */
    breakdown: {
      ordered: quote(price, task.ordered).lines.map(viewPriceLine),
      charged: charged.map(viewPriceLine),
    },
    upstreamTaskId: task.upstreamTaskId ?? null,
    outputUrl: outputs[0]?.url ?? null,
    outputs,
    outputText: task.resultExpiredAt ? null : (task.outputText ?? null),
    errorMessage: task.errorMessage ?? null,
    errorCode: task.errorCode ?? null,
    requestPayload,
    attempt: task.attempt,
    createdAt: task.createdAt.toISOString(),
    updatedAt: task.updatedAt.toISOString(),
    startedAt: task.startedAt?.toISOString() ?? null,
    completedAt: task.completedAt?.toISOString() ?? null,
    cancelRequestedAt: task.cancelRequestedAt?.toISOString() ?? null,
    resultExpiredAt: task.resultExpiredAt?.toISOString() ?? null,
  };
}

export function viewPriceLine({ item, quantity, amount }: QuoteLine) {
  return { item, quantity, credits: toCredits(amount) };
}
