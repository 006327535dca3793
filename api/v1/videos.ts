// Creates and reads video tasks: POST /v1/videos/generations, and the two paths of reading.
import { decryptPrompts } from '../../db/tasks/requests.ts';
import { findOwnVideo } from '../../db/tasks/videos.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isFinal } from '../../domain/tasks.ts';
import type { RequestContext, KeyCaller, Reply } from '../context.ts';
import { readId } from '../http/request-fields.ts';
import { createAndStartTask } from '../tasks/create-task.ts';
import { readVideoRequest } from '../tasks/task-requests.ts';
import { presentVideoTask } from '../tasks/views.ts';

const RETRY_AFTER = { 'retry-after': '5' };

export async function createVideo(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const request = readVideoRequest(ctx.body);
  return createAndStartTask(ctx, request, (task) => ({
    status: 202,
    body: { data: presentVideoTask(ctx.services, task, request.input.prompt) },
    headers: { ...RETRY_AFTER, location: `/v1/videos/tasks/${task.id}` },
  }));
}

export async function readVideoTask({
  services,
  em,
  caller,
  params,
}: RequestContext<KeyCaller>): Promise<Reply> {
  const task = await findOwnVideo(em, caller.user.id, readId('task', params));
  if (!task) throw new GatewayError('task_not_found');
  const prompts = await decryptPrompts(em, services.secrets, [task.id]);
  const data = presentVideoTask(services, task, prompts.get(task.id));
  return { status: 200, body: { data }, headers: isFinal(task.status) ? {} : RETRY_AFTER };
}
