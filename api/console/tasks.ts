// The console's task queue: create, list, read, follow, cancel, retry. Everything is the caller's own.
import { z } from 'zod';
import { isId } from '../../db/ids.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { openPrompts } from '../../db/tasks/requests.ts';
import {
  cancelUnadmitted,
  findOwnTask,
  listEvents,
  listOwnTasks,
  requestCancel,
} from '../../db/tasks/tasks.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isFinal, TASK_MODES, TASK_STATUSES } from '../../domain/tasks.ts';
import type { Call, Reply, SessionCaller } from '../context.ts';
import { queryInteger, readQuery, readTaskId } from '../http/request-fields.ts';
import { retryFailedTask, submitTask } from '../tasks/submit-task.ts';
import { readModeRequest } from '../tasks/task-requests.ts';
import { presentEvent, presentTask } from '../tasks/views.ts';

/** How long DELETE waits for the workflow before it answers that the cancellation is still running. */
const CANCEL_WAIT_MS = 3_000;
const RETRY_AFTER_SECONDS = { text: '2', image: '2', video: '5' } as const;

export const TASK_LIST_QUERY = z.object({
  limit: queryInteger(1, 100, 20),
  cursor: z
    .string()
    .refine((text) => isId('task', text), 'use a nextCursor')
    .optional(),
  status: z.enum(TASK_STATUSES, `must be one of ${TASK_STATUSES.join(', ')}`).optional(),
  mode: z.enum(TASK_MODES, `must be one of ${TASK_MODES.join(', ')}`).optional(),
});

export async function createConsoleTask(call: Call<SessionCaller>): Promise<Reply> {
  const request = readModeRequest(call.body, 'refused');
  const task = await submitTask(call, request);
  return accepted(call, task, request.wishes.prompt);
}

export async function listTasks({ gateway, em, caller, query }: Call<SessionCaller>): Promise<Reply> {
  const { limit, cursor, status, mode } = readQuery(TASK_LIST_QUERY, query);
  const page = { limit: limit + 1, beforeId: cursor ?? null, status: status ?? null, mode: mode ?? null };
  const found = await listOwnTasks(em, caller.user.id, page);
  const tasks = found.slice(0, limit);
  const hasMore = found.length > limit;
  const prompts = await openPrompts(
    em,
    gateway.secrets,
    tasks.map(({ id }) => id),
  );
  const data = tasks.map((task) => presentTask(gateway, task, prompts.get(task.id)));
  return { status: 200, body: { data, hasMore, nextCursor: hasMore ? (tasks.at(-1)?.id ?? null) : null } };
}

export async function readTask(call: Call<SessionCaller>): Promise<Reply> {
  const task = await requireOwnTask(call);
  const headers = isFinal(task.status) ? {} : { 'retry-after': RETRY_AFTER_SECONDS[task.mode] };
  return { status: 200, body: { data: await present(call, task) }, headers };
}

export async function readTimeline(call: Call<SessionCaller>): Promise<Reply> {
  const task = await requireOwnTask(call);
  const events = await listEvents(call.em, task.id);
  return { status: 200, body: { data: events.map(presentEvent) } };
}

/**
 * Without a reservation the row alone decides; else the workflow does, and it is asked as the Temporal UI's button
 * asks it. What the row says afterwards is the truth: the upstream may have been faster.
 */
export async function cancelTask(call: Call<SessionCaller>): Promise<Reply> {
  const { gateway, em, caller } = call;
  const { id } = await requireOwnTask(call);
  if (await requestCancel(em, caller.user.id, id)) {
    const endedAtOnce = await cancelUnadmitted(em, caller.user.id, id);
    await gateway.engine.cancelTask(id, endedAtOnce ? 0 : CANCEL_WAIT_MS);
  }
  const task = await requireOwnTask(call);
  if (task.status === 'completed' || task.status === 'failed') throw new GatewayError('task_not_cancellable');
  return { status: task.status === 'cancelled' ? 200 : 202, body: { data: await present(call, task) } };
}

export async function retryTask(call: Call<SessionCaller>): Promise<Reply> {
  const retried = await retryFailedTask(call, await requireOwnTask(call));
  const prompts = await openPrompts(call.em, call.gateway.secrets, [retried.id]);
  return accepted(call, retried, prompts.get(retried.id));
}

/** Somebody else's task and one that does not exist are the same. */
async function requireOwnTask({ em, caller, params }: Call<SessionCaller>): Promise<Task> {
  const task = await findOwnTask(em, caller.user.id, readTaskId(params));
  if (!task) throw new GatewayError('task_not_found');
  return task;
}

async function present({ gateway, em }: Call<SessionCaller>, task: Task) {
  const prompts = await openPrompts(em, gateway.secrets, [task.id]);
  return presentTask(gateway, task, prompts.get(task.id));
}

function accepted({ gateway }: Call<SessionCaller>, task: Task, prompt: string | undefined): Reply {
  const headers = { location: `/api/tasks/${task.id}`, 'retry-after': RETRY_AFTER_SECONDS[task.mode] };
  return { status: 202, body: { data: presentTask(gateway, task, prompt) }, headers };
}
