// Creates, lists, reads, follows, cancels and retries tasks in the console. All tasks are the caller's own.
import { z } from 'zod';
import type { Task } from '../../db/entities/tasks.ts';
import { NO_DETAILS, readDetails } from '../../db/tasks/details.ts';
import { findOwnTask, listEvents, listOwnTasks } from '../../db/tasks/tasks.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isFinal } from '../../domain/tasks.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { cutPage, pageCursor, pageQuery } from '../http/pages.ts';
import { readQuery, readId } from '../http/request-fields.ts';
import { createAndStartTask } from '../tasks/create-task.ts';
import { retryAndStartTask } from '../tasks/retry-task.ts';
import { stopTask } from '../tasks/stop-task.ts';
import { readModeRequest } from '../tasks/task-requests.ts';
import { TASK_FILTERS } from '../tasks/task-filters.ts';
import { presentEvent, presentTask } from '../tasks/views.ts';

const RETRY_AFTER_SECONDS = { text: '2', image: '2', video: '5' } as const;

export const TASK_LIST_QUERY = z.object({
  ...pageQuery('task'),
  cursor: pageCursor('task'),
  ...TASK_FILTERS,
});

export async function createConsoleTask(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const request = await ctx.workOnBody(() => readModeRequest(ctx.body, 'refused'));
  return createAndStartTask(ctx, request, (task) => accepted(ctx, task, request.input.prompt));
}

export async function listTasks({
  services,
  em,
  caller,
  query,
}: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor, ...filters } = readQuery(TASK_LIST_QUERY, query);
  const page = { limit: limit + 1, beforeId: cursor ?? null, ...filters };
  const found = await listOwnTasks(em, caller.user.id, page);
  const { rows: tasks, hasMore, nextCursor } = cutPage(found.tasks, limit, ({ id }) => id, found.isFull);
  const details = await readDetails(em, services.secrets, tasks);
  const data = tasks.map((task) => presentTask(services, task, details.get(task.id) ?? NO_DETAILS));
  return { status: 200, body: { data, hasMore, nextCursor } };
}

export async function readTask(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const task = await requireOwnTask(ctx);
  const headers = isFinal(task.status) ? {} : { 'retry-after': RETRY_AFTER_SECONDS[task.mode] };
  return { status: 200, body: { data: await present(ctx, task) }, headers };
}

export async function readTimeline(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const task = await requireOwnTask(ctx);
  const events = await listEvents(ctx.em, task.id);
  return { status: 200, body: { data: events.map(presentEvent) } };
}

/** Cancels a task. The row afterwards is the truth: the upstream may have been faster. */
export async function cancelTask(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { id } = await requireOwnTask(ctx);
  await stopTask(ctx, id);
  const task = await requireOwnTask(ctx);
  // Open and not asked to end: it had failed before the cancellation, and was retried since.
  const isRetried = !isFinal(task.status) && task.cancelRequestedAt === null;
  if (isRetried || task.status === 'completed' || task.status === 'failed')
    throw new GatewayError('task_not_cancellable');
  return { status: task.status === 'cancelled' ? 200 : 202, body: { data: await present(ctx, task) } };
}

export async function retryOwnTask(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const task = await requireOwnTask(ctx);
  const details = await readDetails(ctx.em, ctx.services.secrets, [task]);
  return retryAndStartTask(ctx, task, (retried) => accepted(ctx, retried, details.get(task.id)?.prompt));
}

/** Finds the caller's task. Throws the same 404 for another user's task and for an unknown one. */
async function requireOwnTask({ em, caller, params }: RequestContext<SessionCaller>): Promise<Task> {
  const task = await findOwnTask(em, caller.user.id, readId('task', params));
  if (!task) throw new GatewayError('task_not_found');
  return task;
}

async function present({ services, em }: RequestContext<SessionCaller>, task: Task) {
  const details = await readDetails(em, services.secrets, [task]);
  return presentTask(services, task, details.get(task.id) ?? NO_DETAILS);
}

function accepted(
  { services }: RequestContext<SessionCaller>,
  task: Task,
  prompt: string | undefined,
): Reply {
  const headers = { location: `/api/tasks/${task.id}`, 'retry-after': RETRY_AFTER_SECONDS[task.mode] };
  return { status: 202, body: { data: presentTask(services, task, { ...NO_DETAILS, prompt }) }, headers };
}
