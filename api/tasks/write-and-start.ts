// Shares what the creation and the retry of a task need: writing it with its answer, starting it, refusals.
import type { Em } from '../../db/database.ts';
import type { Task } from '../../db/entities/tasks.ts';
import type { CreateRefusal } from '../../db/tasks/new-tasks.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { maskText } from '../../domain/masking/masking.ts';
import { insufficientCredits } from '../account/insufficient-credits.ts';
import type { KeyCaller, Reply, RequestContext, SessionCaller } from '../context.ts';
import { answerOnce } from '../idempotent-effects.ts';

/**
 * Retry-after time of a full queue: a waiting task looks for a free slot at least this often, so the queue
 * may not have moved before.
 */
const QUEUE_FULL_RETRY_MS = 15_000;

/**
 * Writes a task and answers with what `answer` makes of it, both once for an Idempotency-Key; then the task's
 * workflow is started beside the answer. While Temporal is slow or away, the task stays queued and the
 * sweeper starts it.
 */
export async function writeAndStart(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  write: (em: Em) => Promise<Task>,
  answer: (task: Task) => Reply,
): Promise<Reply> {
  const { task, ...reply } = await answerOnce(ctx, async (em) => {
    const written = await write(em);
    return { task: written, ...answer(written) };
  });
  ctx.endTurn(); // the row is written: what follows must not keep the user's next creation waiting
  ctx.trace.taskId = task.id;
  ctx.services.taskStarts.start(task, { requestId: maskText(ctx.requestId) });
  return reply;
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
