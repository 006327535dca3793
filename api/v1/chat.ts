// POST /v1/chat/completions: reserve, call, pass on, settle once however it ends.
import { findCharge } from '../../db/chat/chat-ledger.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { TriedUpstream } from '../../domain/chat-calls.ts';
import { ChatFailed, UpstreamFailure, type UpstreamAnswer } from '../../providers/chat/chat.ts';
import { ChatBilling } from '../chat/chat-billing.ts';
import { explainFailure } from '../chat/chat-errors.ts';
import { readChat, type PricedChat } from '../chat/read-chat.ts';
import { relayStream } from '../chat/relay-stream.ts';
import { answerWhole } from '../chat/whole-answer.ts';
import { freeKey, inProgress } from '../idempotency.ts';
import type { RequestContext, KeyCaller, Reply } from '../context.ts';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no', // a proxy that collects a stream would take its sense away
};

export async function completeChat(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const chat = readChat(ctx);
  await rejectAlreadyCharged(ctx);
  const bill = new ChatBilling(ctx, chat);
  await bill.reserve();
  bill.keepAlive();
  const prompt = (): string => JSON.stringify(ctx.body['messages']);
  const left = ctx.disconnected();
  let open: UpstreamAnswer | null = null;
  try {
    open = await openChat(ctx, chat, left);
    if (!chat.stream) return await answerWhole(chat, bill, open);
  } catch (thrown) {
    throw await giveUp(ctx, bill, { thrown, open, prompt, hasLeft: left.aborted });
  }
  const { stopping, chat: parts } = ctx.services;
  const { commentEveryMs } = parts;
  const relay = {
    chat,
    bill,
    open,
    left,
    stopping,
    prompt,
    mayRepeat: ctx.idempotency !== null,
    commentEveryMs,
  };
  return { status: 200, headers: STREAM_HEADERS, stream: (res) => relayStream(res, relay) };
}

function openChat(
  { services, requestId }: RequestContext<KeyCaller>,
  chat: PricedChat,
  left: AbortSignal,
): Promise<UpstreamAnswer> {
  const { family, upstreamModel, upstreams } = chat.model;
  const usual = [{ family, upstreamModel, priority: 1, weight: 1 }];
  const request = { upstreams: upstreams.length > 0 ? upstreams : usual, body: chat.upstreamBody, requestId };
  return services.chat.upstreams.openUpstream(request, left);
}

interface BrokenOff {
  thrown: unknown;
  open: UpstreamAnswer | null;
  /** The messages as a text. */
  prompt: () => string;
  hasLeft: boolean;
}

/** Nothing was delivered, so nothing is charged, and the key may be used again. Answers what the caller is told. */
async function giveUp(
  ctx: RequestContext<KeyCaller>,
  bill: ChatBilling,
  { thrown, open, prompt, hasLeft }: BrokenOff,
): Promise<unknown> {
  const failure = thrown instanceof ChatFailed ? thrown.failure : thrown;
  const tried: readonly TriedUpstream[] = thrown instanceof ChatFailed ? thrown.tried : (open?.tried ?? []);
  const isUpstreams = failure instanceof UpstreamFailure;
  const error = isUpstreams
    ? explainFailure(failure, prompt())
    : new GatewayError('internal_error', { cause: thrown });
  await bill.finish({
    status: hasLeft ? 'cancelled' : 'failed',
    consumption: { kind: 'nothing' },
    error: hasLeft ? null : error,
    upstreamRequestId: isUpstreams ? failure.upstreamRequestId : null,
    tried,
  });
  if (error.status >= 500 || hasLeft) await freeKey(ctx);
  return error;
}

/** A process died over an earlier request with this key. What that one was charged for is not delivered twice. */
async function rejectAlreadyCharged({ em, idempotency }: RequestContext<KeyCaller>): Promise<void> {
  if (!idempotency?.resumedId) return;
  const charged = await findCharge(em, idempotency.resumedId);
  if (charged === null) throw inProgress();
  if (charged > 0n)
    throw new GatewayError('idempotency_key_reused', {
      message:
        'An earlier request with this key broke off and was charged for what it delivered. Use another key.',
    });
}
