// Builds the row of a new task from its priced order: routing, price, encrypted request, masked payload.
import { setImmediate } from 'node:timers/promises';
import { makeId } from '../../db/ids.ts';
import type { NewTask } from '../../db/tasks/new-tasks.ts';
import { sealRequest } from '../../db/tasks/requests.ts';
import type { Model } from '../../domain/catalog/catalog.ts';
import type { JsonValue } from '../../domain/json.ts';
import { maskPayload } from '../../domain/masking/masking.ts';
import type { KeyCaller, RequestContext, SessionCaller } from '../context.ts';
import { spenderOf } from './answer-length.ts';
import type { PricedOrder, TaskRequest } from './price-request.ts';

/** From this length of all images together, masking and encrypting each have a turn of the event loop. */
const LONG_IMAGES_LENGTH = 1024 * 1024;

/** Builds the row. Nothing is written until `createTask` of `db/` is given the row. */
export async function buildNewTask(
  { services, caller, body, requestId }: RequestContext<KeyCaller | SessionCaller>,
  { input }: TaskRequest,
  { model, order, price, quote, inputVideos }: PricedOrder,
): Promise<NewTask> {
  const id = makeId('task');
  const isConversation = input.mode === 'text' && Array.isArray(body['messages']);
  const inputImages = input.mode === 'text' ? [] : [...input.inputImages];
  const isLong = inputImages.reduce((sum, image) => sum + image.length, 0) > LONG_IMAGES_LENGTH;
  const requestPayload = maskRequest(body, isConversation);
  if (isLong) await setImmediate();
  const sealed = await sealRequest(services.secrets, id, {
    prompt: input.prompt,
    inputImages,
    inputVideos: inputVideos.urls,
    negativePrompt: (input.mode === 'text' ? null : input.options?.negativePrompt) ?? null,
    isConversation,
  });
  if (isLong) await setImmediate();
  return {
    id,
    ...spenderOf(caller),
    mode: model.kind,
    model: model.id,
    ...routingOf(model),
    ordered: order,
    price,
    creditsEstimate: quote.total,
    requestPayload,
    requestId,
    sealed,
  };
}

/** Returns which vendor's API does the work of a model, and under which name. */
export function routingOf({ family, adapter, upstreamModel }: Model) {
  return { family, adapter, upstreamModel };
}

/**
 * Masks the payload for its readers. The prompt is left out: it is encrypted apart, and put back for the
 * owner.
 */
function maskRequest(
  body: { [field: string]: unknown },
  isConversation: boolean,
): { [field: string]: JsonValue } {
  const { prompt: _prompt, messages: _messages, ...rest } = body;
  // A conversation is a prompt, too. `messages: null` marks that the owner's conversation is put back
  // there.
  const marker = isConversation ? { messages: null } : {};
  // The body was parsed from JSON, whatever its type says; a checked copy of 32 MB would block all other
  // requests.
  const masked = maskPayload({ ...rest, ...marker });
  return typeof masked === 'object' && masked !== null && !Array.isArray(masked) ? masked : {};
}
