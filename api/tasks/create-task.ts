// Creates a task: the row with its earmark, within its idempotency key, then the workflow.
import type { Em } from '../../db/database.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { createTask, type NewTask } from '../../db/tasks/new-tasks.ts';
import type { KeyCaller, RequestContext, SessionCaller } from '../context.ts';
import { beginOnce } from '../idempotent-effects.ts';
import { bindUploads } from '../uploads/input-videos.ts';
import { createRefusalError, findResumedTask, startTask } from './admission.ts';
import { dependsOnCredits, fitToCredits } from './answer-length.ts';
import { buildNewTask } from './new-task.ts';
import { priceRequest, type PricedOrder, type TaskRequest } from './price-request.ts';

/**
 * Creates and starts a task. Throws 402 when the credits do not cover the task, 429 when too many tasks of
 * the user are waiting.
 */
export async function createAndStartTask(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  request: TaskRequest,
): Promise<Task> {
  const resumed = await findResumedTask(ctx);
  if (resumed) return resumed;
  const priced = await priceRequest(ctx, request);
  const task = await buildNewTask(ctx, request, priced);
  return startTask(ctx, await writeTask(ctx, task, priced));
}

function writeTask(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  task: NewTask,
  { answer, inputVideos }: PricedOrder,
): Promise<Task> {
  const write = async (em: Em): Promise<Task> => {
    const fitted = await fitToCredits(em, task, task, answer);
    const created = await createTask(em, fitted, ctx.services.waitingTasksPerUserMax);
    if ('kind' in created) throw createRefusalError(ctx, created, fitted.creditsEstimate);
    await bindUploads(em, { taskId: task.id, userId: task.userId }, inputVideos);
    return created;
  };
  // Mostly the row is the only effect, and `createTask` is one statement.
  const isOneEffect = inputVideos.uploadIds.length === 0 && !dependsOnCredits(answer);
  return beginOnce(ctx, task.id, isOneEffect ? write : (em) => em.transactional(write));
}
