// Presents task records as JSON for their owner, one function per shape.
import { toUnixSeconds } from '../../domain/times.ts';
import type { Task, TaskEventRow } from '../../db/entities/tasks.ts';
import { readEvidence, readPrice, type TaskOutput } from '../../db/columns.ts';
import type { TaskDetails } from '../../db/tasks/details.ts';
import { toCredits } from '../../domain/credits.ts';
import { viewPriceLine, viewTask } from '../../domain/task-view.ts';
import type { PricedOrder } from './price-request.ts';
import type { EstimateView, ImageTaskView, TaskEventView, TaskView, VideoTaskView } from '../shapes/tasks.ts';
import { signResultLink } from './results.ts';
import type { Services } from '../services.ts';

/** Presents a task in the console, with the prompt of its owner. */
export function presentTask(services: Services, task: Task, details: TaskDetails): TaskView {
  return viewTask(task, {
    price: readPrice(task.price),
    evidence: readEvidence(details.evidence),
    refunded: details.refunded,
    requestPayload: presentPayload(task, details.prompt),
    linkTo: (key) => signResultLink(services, key),
  });
}

/** Presents a task on the image endpoints. A cancelled task reads as failed here, and only here. */
export function presentImageTask(
  services: Services,
  task: Task,
  inline: readonly (string | null)[] = [],
): ImageTaskView {
  const urls = keptOutputs(task).map(({ key }) => signResultLink(services, key));
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
    created_at: toUnixSeconds(task.createdAt),
    creditsCharged: toCredits(task.creditsCharged),
    upstreamTaskId: task.upstreamTaskId ?? null,
    outputUrl: urls[0] ?? null,
    ...(task.status === 'completed' && {
      result: {
        data: urls.map((url, index) => ({ url, ...(inline[index] && { b64_json: inline[index] }) })),
      },
    }),
    ...(failed && { errorMessage: message, error: { code: task.errorCode ?? null, message } }),
    ...(task.completedAt && { completed_at: toUnixSeconds(task.completedAt) }),
    ...expiryOf(task),
  };
}

/** Presents a task on the video endpoints. */
export function presentVideoTask(services: Services, task: Task, prompt: string | undefined): VideoTaskView {
  const [output] = keptOutputs(task);
  return {
    id: task.id,
    model: task.model,
    status: task.status,
    progress: task.progress,
    creditsEstimate: toCredits(task.creditsEstimate),
    creditsCharged: toCredits(task.creditsCharged),
    upstreamTaskId: task.upstreamTaskId ?? null,
    outputUrl: output ? signResultLink(services, output.key) : null,
    errorMessage: task.errorMessage ?? null,
    requestPayload: presentPayload(task, prompt),
    billingMode: task.price.billingMode,
    createdAt: task.createdAt.toISOString(),
    ...expiryOf(task),
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

export function presentEstimate({ model, quote }: Pick<PricedOrder, 'model' | 'quote'>): EstimateView {
  return {
    creditsEstimate: toCredits(quote.total),
    billingMode: model.billingMode,
    breakdown: quote.lines.map(viewPriceLine),
  };
}

/** None from the moment that they begin to be removed by age. */
function keptOutputs({ resultExpiredAt, outputs }: Task): TaskOutput[] {
  return resultExpiredAt ? [] : outputs;
}

function expiryOf({ resultExpiredAt }: Task): { resultExpiredAt?: string } {
  return resultExpiredAt ? { resultExpiredAt: resultExpiredAt.toISOString() } : {};
}

function presentPayload(task: Task, prompt: string | undefined) {
  if (prompt === undefined) return task.requestPayload;
  const isConversation = 'messages' in task.requestPayload;
  return { ...task.requestPayload, ...(isConversation ? { messages: JSON.parse(prompt) } : { prompt }) };
}
