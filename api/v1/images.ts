// POST /v1/images/generations and GET /v1/images/tasks/:id.
import { buffer } from 'node:stream/consumers';
import { findOwnTask } from '../../db/tasks/tasks.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isFinal } from '../../domain/tasks.ts';
import type { Call, KeyCaller, Reply } from '../context.ts';
import { readTaskId } from '../http/request-fields.ts';
import { submitTask } from '../tasks/submit-task.ts';
import { readImageRequest } from '../tasks/task-requests.ts';
import type { Gateway } from '../services.ts';
import { presentImageTask } from '../tasks/views.ts';

const RETRY_AFTER = { 'retry-after': '2' };
/** Bytes of images that are put into one answer. */
const INLINE_BYTES_MAX = 10 * 1024 * 1024;

/** This endpoint has one model, the catalogue's entry marked as such; any other id does not exist here. */
export async function createImage(call: Call<KeyCaller>): Promise<Reply> {
  const request = readImageRequest(call.body);
  const model = call.gateway.catalog.models.get(request.model);
  if (model?.kind === 'image' && !model.imagesEndpoint)
    throw new GatewayError('model_not_found', {
      param: 'model',
      message: 'This endpoint has one model of its own. Order images of others with POST /api/tasks.',
    });
  const task = await submitTask(call, request);
  const {
    creditsCharged: _charged,
    upstreamTaskId: _id,
    outputUrl: _url,
    ...created
  } = presentImageTask(call.gateway, task);
  return { status: 202, body: created, headers: { ...RETRY_AFTER, location: `/v1/images/tasks/${task.id}` } };
}

/** Image tasks made in the console are readable here too; ids of other kinds are not. */
export async function readImageTask({ gateway, em, caller, params }: Call<KeyCaller>): Promise<Reply> {
  const task = await findOwnTask(em, caller.user.id, readTaskId(params));
  if (task?.mode !== 'image') throw new GatewayError('task_not_found');
  const body = presentImageTask(gateway, task, await readInline(gateway, task));
  return { status: 200, body, headers: isFinal(task.status) ? {} : RETRY_AFTER };
}

async function readInline(gateway: Gateway, task: Task): Promise<(string | null)[]> {
  if (task.ordered.responseFormat !== 'b64_json') return [];
  const inline: (string | null)[] = [];
  let bytesLeft = INLINE_BYTES_MAX;
  for (const { key, bytes } of task.outputs) {
    const file = bytes <= bytesLeft ? await gateway.storage.read(key) : null;
    bytesLeft -= bytes;
    inline.push(file && (await buffer(file.stream)).toString('base64'));
  }
  return inline;
}
