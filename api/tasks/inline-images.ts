// Reads the images of a task for an answer that holds them as base64. Such an answer is in memory until its
// caller has taken it, so that a process has few of them at once.
import { buffer } from 'node:stream/consumers';
import type { Task } from '../../db/entities/tasks.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { RequestContext, KeyCaller } from '../context.ts';
import type { EndTurn } from '../http/turns.ts';

/** Most bytes of images that are put into one answer. */
const INLINE_BYTES_MAX = 10 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 5;

/**
 * The images in base64, null for one beyond the limit; none unless the task was ordered so. Throws 503
 * `overloaded` when too many answers with images wait to be taken, and StorageUnavailable.
 */
export async function readInlineImages(
  ctx: RequestContext<KeyCaller>,
  { ordered, outputs }: Task,
): Promise<(string | null)[]> {
  if (ordered.responseFormat !== 'b64_json' || outputs.length === 0) return [];
  ctx.afterAnswer(await takeTurn(ctx));
  const inline: (string | null)[] = [];
  let bytesLeft = INLINE_BYTES_MAX;
  for (const { key, bytes } of outputs) {
    const file = bytes <= bytesLeft ? await ctx.services.storage.read(key) : null;
    bytesLeft -= bytes;
    inline.push(file && (await buffer(file.stream)).toString('base64'));
  }
  return inline;
}

async function takeTurn(ctx: RequestContext<KeyCaller>): Promise<EndTurn> {
  const { services, caller } = ctx;
  const { inlineTurns: turns } = services;
  const turn = turns.tryTake(caller.user.id) ?? (await turns.take(caller.user.id, ctx.disconnected()));
  if (typeof turn !== 'string') return turn;
  if (turn !== 'left') services.metrics.shed('inline_turns');
  throw new GatewayError('overloaded', { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } });
}
