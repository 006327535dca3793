// Creates and reads image tasks: POST /v1/images/generations and /v1/images/edits, GET /v1/images/tasks/:id.
import { findOwnTask } from '../../db/tasks/tasks.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isFinal } from '../../domain/tasks.ts';
import { toUnixSeconds } from '../../domain/times.ts';
import type { RequestContext, KeyCaller, Reply } from '../context.ts';
import { readId } from '../http/request-fields.ts';
import { createAndStartTask } from '../tasks/create-task.ts';
import { readEditRequest, renameEditFields } from '../tasks/image-edits.ts';
import { readInlineImages } from '../tasks/inline-images.ts';
import type { TaskRequest } from '../tasks/price-request.ts';
import { readImageRequest } from '../tasks/task-requests.ts';
import { presentImageTask } from '../tasks/views.ts';

const RETRY_AFTER = { 'retry-after': '2' };

/**
 * Creates an image task. The endpoint has one model, the catalogue's entry marked as such; any other image
 * model is 404.
 */
export async function createImage(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const request = readImageRequest(ctx.body);
  const model = ctx.services.catalog.models.get(request.model);
  if (model?.kind === 'image' && !model.imagesEndpoint)
    throw new GatewayError('model_not_found', {
      param: 'model',
      message: 'This endpoint has one model of its own. Order images of others with POST /api/tasks.',
    });
  return acceptImage(ctx, request);
}

/**
 * Creates an image task after pictures of the caller's, with any image model that takes some; without a name
 * with the model of the endpoint.
 */
export async function editImage(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  return renameEditFields(acceptImage(ctx, readEditRequest(ctx.body, ctx.services.catalog)));
}

/** Reads an image task, also one made in the console; ids of tasks of other kinds are 404. */
export async function readImageTask(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const { task, view } = await readImage(ctx);
  return { status: 200, body: view, headers: isFinal(task.status) ? {} : RETRY_AFTER };
}

/**
 * Reads a completed task as the answer of its creation: with the members of OpenAI's answer, so that clients
 * made for it find what they look for.
 */
export async function readCreatedImage(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const { task, view } = await readImage(ctx);
  const files = view.result?.data ?? [];
  const data = files.map(({ url, b64_json: bytes }) => (bytes === undefined ? { url } : { b64_json: bytes }));
  return { status: 200, body: { ...view, created: toUnixSeconds(task.completedAt ?? task.createdAt), data } };
}

function acceptImage(ctx: RequestContext<KeyCaller>, request: TaskRequest): Promise<Reply> {
  return createAndStartTask(ctx, request, (task) => {
    const view = presentImageTask(ctx.services, task);
    const { id, object, model, status, progress, creditsEstimate, created_at } = view;
    const body = { id, object, model, status, progress, creditsEstimate, created_at };
    return { status: 202, body, headers: { ...RETRY_AFTER, location: `/v1/images/tasks/${task.id}` } };
  });
}

async function readImage(ctx: RequestContext<KeyCaller>) {
  const { services, em, caller, params } = ctx;
  const task = await findOwnTask(em, caller.user.id, readId('task', params));
  if (task?.mode !== 'image') throw new GatewayError('task_not_found');
  return { task, view: presentImageTask(services, task, await readInlineImages(ctx, task)) };
}
