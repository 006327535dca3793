// Shares what the creation and the retry of a task need: resuming a begun task, starting it, refusals.
import type { Task } from '../../db/entities/tasks.ts';
import type { CreateRefusal } from '../../db/tasks/new-tasks.ts';
import { findOwnTask } from '../../db/tasks/tasks.ts';
import { toCredits, type MicroCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { maskText } from '../../domain/masking/masking.ts';
import type { KeyCaller, RequestContext, SessionCaller } from '../context.ts';

/**
 * Retry-after time of a full queue: a waiting task looks for a free slot at least this often, so the queue
 * may not have moved before.
 */
const QUEUE_FULL_RETRY_MS = 15_000;

/**
 * Finds the task that an earlier request with the same idempotency key wrote before its process died; null
 * without one.
 */
export async function findResumedTask({
  em,
  caller,
  idempotency,
}: RequestContext<KeyCaller | SessionCaller>): Promise<Task | null> {
  return idempotency?.resumedId ? findOwnTask(em, caller.user.id, idempotency.resumedId) : null;
}

/**
 * Has the workflow of a written task started, and returns the task at once. While Temporal is slow or away,
 * the task stays queued and the sweeper starts it.
 */
export function startTask(ctx: RequestContext<KeyCaller | SessionCaller>, task: Task): Task {
  ctx.endTurn(); // the row is written: what follows must not keep the user's next creation waiting
  ctx.trace.taskId = task.id;
  ctx.services.taskStarts.start(task, { requestId: maskText(ctx.requestId) });
  return task;
}

/** Creates the error of a row that was not written. `required` is the estimate of the task. */
export function createRefusalError(
  { services, limitBackend }: RequestContext<KeyCaller | SessionCaller>,
  refusal: CreateRefusal,
  required: MicroCredits,
): GatewayError {
  if (refusal.kind === 'insufficient_credits') return insufficientCredits(required, refusal.available);
  if (refusal.kind !== 'queue_full') return new GatewayError(refusal.kind);
  const waitingQuota = { name: 'waiting-tasks', points: services.waitingTasksPerUserMax, seconds: null };
  return services.limits.refuse('queue_full', waitingQuota, {
    backend: limitBackend,
    resetMs: QUEUE_FULL_RETRY_MS,
  });
}

function insufficientCredits(required: MicroCredits, available: MicroCredits): GatewayError {
  const extra = { required: toCredits(required), available: toCredits(available) };
  return new GatewayError('insufficient_credits', { extra });
}
