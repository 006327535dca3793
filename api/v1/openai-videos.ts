// Videos in OpenAI's shape: POST and GET /v1/videos, GET and DELETE /v1/videos/:id, GET its content.
import type { Task } from '../../db/entities/tasks.ts';
import { decryptPrompts } from '../../db/tasks/requests.ts';
import { findOwnVideo, forgetFiles, listOwnVideos, markVideoDeleted } from '../../db/tasks/videos.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isFinal } from '../../domain/tasks.ts';
import type { RequestContext, KeyCaller, Reply } from '../context.ts';
import { readId, readQuery } from '../http/request-fields.ts';
import { createAndStartTask } from '../tasks/create-task.ts';
import {
  OPENAI_VIDEO_CONTENT_QUERY,
  OPENAI_VIDEO_LIST_QUERY,
  readOpenaiVideoRequest,
  renameVideoFields,
} from '../tasks/openai-videos.ts';
import { stopTask } from '../tasks/stop-task.ts';
import { presentOpenaiVideo } from '../tasks/openai-video-view.ts';

const RETRY_AFTER = { 'retry-after': '5' };

/** Creates a video. Answers 200 as OpenAI does; `retry-after` says that it is not finished. */
export async function createOpenaiVideo(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const request = readOpenaiVideoRequest(ctx.body, ctx.services.catalog);
  const answer = (task: Task): Reply => ({
    status: 200,
    body: presentOpenaiVideo(task, request.input.prompt),
    headers: { ...RETRY_AFTER, location: `/v1/videos/${task.id}` },
  });
  return renameVideoFields(createAndStartTask(ctx, request, answer));
}

export async function readOpenaiVideo(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const task = await requireVideo(ctx);
  const prompts = await decryptPrompts(ctx.em, ctx.services.secrets, [task.id]);
  const body = presentOpenaiVideo(task, prompts.get(task.id));
  return { status: 200, body, headers: isFinal(task.status) ? {} : RETRY_AFTER };
}

export async function listOpenaiVideos({
  services,
  em,
  caller,
  query,
}: RequestContext<KeyCaller>): Promise<Reply> {
  const { after, limit, order } = readQuery(OPENAI_VIDEO_LIST_QUERY, query);
  const found = await listOwnVideos(em, caller.user.id, { afterId: after ?? null, limit: limit + 1, order });
  const page = found.slice(0, limit);
  const prompts = await decryptPrompts(
    em,
    services.secrets,
    page.map(({ id }) => id),
  );
  const body = {
    object: 'list',
    data: page.map((task) => presentOpenaiVideo(task, prompts.get(task.id))),
    first_id: page.at(0)?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: found.length > limit,
  };
  return { status: 200, body };
}

/** Deletes a video and its files; one that has not ended is cancelled first. */
export async function deleteOpenaiVideo(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const { services, em, caller, requestId } = ctx;
  const { id, status } = await requireVideo(ctx);
  if (!isFinal(status)) await stopTask(ctx, id);
  const files = await markVideoDeleted(em, caller.user.id, id);
  if (!files) {
    await requireVideo(ctx); // 404 when a parallel request was faster
    throw new GatewayError('task_not_ended', { headers: { 'retry-after': '2', 'x-should-retry': 'true' } });
  }
  try {
    for (const { key, previewKey } of files) {
      await services.storage.delete(key);
      if (previewKey !== undefined) await services.storage.delete(previewKey);
    }
    await forgetFiles(em, id);
  } catch (err) {
    services.log.warn({ err, requestId }, 'the files of a deleted video could not be removed yet');
  }
  return { status: 200, body: { id, object: 'video.deleted', deleted: true } };
}

/** Sends the video, or the small picture of it where there is one. */
export async function sendOpenaiVideo(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const { variant } = readQuery(OPENAI_VIDEO_CONTENT_QUERY, ctx.query);
  const { outputs, status } = await requireVideo(ctx);
  const [output] = outputs;
  if (!output) {
    const message = `There is no file of this video: it is ${status}.`;
    throw new GatewayError('file_not_found', { message });
  }
  const key = variant === 'video' ? output.key : output.previewKey;
  if (key === undefined)
    throw new GatewayError('file_not_found', { message: `There is no ${variant} of this video.` });
  const contentType = variant === 'video' ? output.contentType : 'image/webp';
  return { status: 200, file: { key, contentType, filename: key.slice(key.lastIndexOf('/') + 1) } };
}

/** Throws the same 404 for another user's video, a deleted one and an unknown one. */
async function requireVideo({ em, caller, params }: RequestContext<KeyCaller>): Promise<Task> {
  const task = await findOwnVideo(em, caller.user.id, readId('task', params));
  if (!task) throw new GatewayError('task_not_found');
  return task;
}
