// Retries a failed task: one more attempt of the same row, at today's price.
import type { Em } from '../../db/database.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { retryTask, type RenewedTask } from '../../db/tasks/new-tasks.ts';
import { hasMissingUploads } from '../../db/uploads.ts';
import { GatewayError } from '../../domain/errors.ts';
import { renewOrder } from '../../domain/orders/resolve-order.ts';
import { boundsOfOrder } from '../../domain/orders/text.ts';
import { quote, snapshotPrice } from '../../domain/pricing.ts';
import type { Reply, RequestContext, SessionCaller } from '../context.ts';
import { fitToCredits } from './answer-length.ts';
import { createRefusalError, writeAndStart } from './write-and-start.ts';
import { routingOf } from './new-task.ts';

const UPLOAD_GONE = { message: 'An uploaded video that this task needs has expired or was deleted.' };

/**
 * Retries and starts a task, and answers with what `answer` makes of it. Throws 409 when the task did not
 * fail or its uploads are gone, and the errors of a creation.
 */
export async function retryAndStartTask(
  ctx: RequestContext<SessionCaller>,
  task: Task,
  answer: (task: Task) => Reply,
): Promise<Reply> {
  if (task.status !== 'failed' || task.deletedAt) throw new GatewayError('task_not_retryable');
  if (await hasMissingUploads(ctx.em, task.id)) throw new GatewayError('task_not_retryable', UPLOAD_GONE);
  const renewed = await renewTask(ctx, task);
  return writeAndStart(ctx, (em) => rewriteTask(ctx, em, task, renewed), answer);
}

/**
 * Resolves and prices the task's order anew. Throws when the catalogue no longer has the model, or no
 * longer offers what was ordered.
 */
async function renewTask(
  { services, em, requestId }: RequestContext<SessionCaller>,
  task: Task,
): Promise<RenewedTask> {
  const model = services.catalog.models.get(task.model);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  const ordered = renewOrder(model, task.ordered);
  const price = snapshotPrice(model);
  const creditsEstimate = quote(price, ordered).total;
  const renewed = { ...routingOf(model), ordered, price, creditsEstimate, requestId };
  // Before the transaction: that locks the task's row first, and only then the counters.
  return fitToCredits(em, { userId: task.userId, keyId: null }, renewed, boundsOfOrder(model, ordered));
}

async function rewriteTask(
  ctx: RequestContext<SessionCaller>,
  em: Em,
  task: Task,
  renewed: RenewedTask,
): Promise<Task> {
  const retried = await retryTask(em, task, renewed, ctx.services.waitingTasksPerUserMax);
  if (!('kind' in retried)) return retried;
  if (retried.kind === 'not_retryable') throw new GatewayError('task_not_retryable');
  throw createRefusalError(ctx, retried, renewed.creditsEstimate);
}
