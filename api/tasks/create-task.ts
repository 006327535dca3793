// Creates a task: the row with its earmark and its answer, within its idempotency key, then the workflow.
import type { Em } from '../../db/database.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { createTask, type NewTask } from '../../db/tasks/new-tasks.ts';
import type { KeyCaller, Reply, RequestContext, SessionCaller } from '../context.ts';
import { bindUploads } from '../uploads/input-videos.ts';
import { createRefusalError, writeAndStart } from './write-and-start.ts';
import { dependsOnCredits, fitToCredits } from './answer-length.ts';
import { buildNewTask } from './new-task.ts';
import { priceRequest, type PricedOrder, type TaskRequest } from './price-request.ts';

/**
 * Creates and starts a task, and answers with what `answer` makes of it. Throws 402 when the credits do not
 * cover the task, 429 when too many tasks of the user are waiting.
 */
export async function createAndStartTask(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  request: TaskRequest,
  answer: (task: Task) => Reply,
): Promise<Reply> {
  const priced = await priceRequest(ctx, request);
  const task = await buildNewTask(ctx, request, priced);
  const write = (em: Em): Promise<Task> => writeTask(ctx, em, task, priced);
  // Mostly the row is the only effect, and `createTask` is one statement.
  const isOneEffect = priced.inputVideos.uploadIds.length === 0 && !dependsOnCredits(priced.answer);
  return writeAndStart(ctx, isOneEffect ? write : (em) => em.transactional(write), answer);
}

async function writeTask(
  ctx: RequestContext<KeyCaller | SessionCaller>,
  em: Em,
  task: NewTask,
  { answer, inputVideos }: PricedOrder,
): Promise<Task> {
  const fitted = await fitToCredits(em, task, task, answer);
  const created = await createTask(em, fitted, ctx.services.waitingTasksPerUserMax);
  if ('kind' in created) throw createRefusalError(ctx, created, fitted.creditsEstimate);
  await bindUploads(em, { taskId: task.id, userId: task.userId }, inputVideos);
  return created;
}
