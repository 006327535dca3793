// Creates a task: the row with its earmark, within its idempotency key, then the workflow.
import type { Em } from '../../db/database.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { createTask, type NewTask } from '../../db/tasks/new-tasks.ts';
import type { KeyCaller, RequestContext, SessionCaller } from '../context.ts';
import { beginOnce } from '../idempotent-effects.ts';
import { bindUploads, type InputVideos } from '../uploads/input-videos.ts';
import { createRefusalError, findResumedTask, startTask } from './admission.ts';
import { buildNewTask } from './new-task.ts';
import { priceRequest, type TaskRequest } from './price-request.ts';

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
  return startTask(ctx, await writeTask(ctx, task, priced.inputVideos));
}

function writeTask(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  task: NewTask,
  inputVideos: InputVideos,
): Promise<Task> {
  const write = async (em: Em): Promise<Task> => {
    const created = await createTask(em, task, ctx.services.waitingTasksPerUserMax);
    if ('kind' in created) throw createRefusalError(ctx, created, task.creditsEstimate);
    await bindUploads(em, { taskId: task.id, userId: task.userId }, inputVideos);
    return created;
  };
  // Without uploads the row is the only effect, and `createTask` is one statement.
  const isOneEffect = inputVideos.uploadIds.length === 0;
  return beginOnce(ctx, task.id, isOneEffect ? write : (em) => em.transactional(write));
}
