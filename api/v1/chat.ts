// POST /v1/chat/completions: reserves credits, calls the upstream, relays its answer, settles in every case.
import { findCharge } from '../../db/chat/chat-ledger.ts';
import type { TriedUpstream } from '../../domain/chat-calls.ts';
import { GatewayError } from '../../domain/errors.ts';
import { ChatFailed, UpstreamFailure, type UpstreamAnswer } from '../../providers/chat/chat.ts';
import { ChatBilling } from '../chat/chat-billing.ts';
import { explainFailure } from '../chat/chat-errors.ts';
import { DeliveredEvents } from '../chat/delivered-events.ts';
import { readChat, type PricedChat } from '../chat/read-chat.ts';
import { relayStream } from '../chat/relay-stream.ts';
import { answerWhole } from '../chat/whole-answer.ts';
import type { KeyCaller, Reply, RequestContext } from '../context.ts';
import { releaseIdempotencyKey, idempotencyInProgress } from '../idempotent-effects.ts';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no', // asks reverse proxies not to collect the stream
};

export async function completeChat(ctx: RequestContext<KeyCaller>): Promise<Reply> {
  const chat = readChat(ctx);
  await rejectAlreadyCharged(ctx);
  const billing = new ChatBilling(ctx, chat);
  await billing.reserve();
  const delivered = new DeliveredEvents(ctx.idempotency !== null);
  billing.keepAlive(() => delivered.text());
  const messagesText = (): string => JSON.stringify(ctx.body['messages']);
  const disconnected = ctx.disconnected();
  let upstream: UpstreamAnswer | null = null;
  try {
    upstream = await openUpstream(ctx, chat, disconnected);
    if (!chat.stream) return await answerWhole(chat, billing, upstream);
  } catch (thrown) {
    const isDisconnected = disconnected.aborted;
    throw await failUndelivered(ctx, billing, { thrown, upstream, messagesText, isDisconnected });
  }
  const { stopping } = ctx.services;
  const { commentEveryMs } = ctx.services.chat;
  const call = { chat, billing, upstream, delivered, messagesText };
  return {
    status: 200,
    headers: STREAM_HEADERS,
    stream: (res) => relayStream(res, { ...call, disconnected, stopping, commentEveryMs }),
  };
}

function openUpstream(
  { services, requestId }: RequestContext<KeyCaller>,
  { model, upstreamBody }: PricedChat,
  disconnected: AbortSignal,
): Promise<UpstreamAnswer> {
  const { family, upstreamModel, upstreams } = model;
  const byDefault = [{ family, upstreamModel, priority: 1, weight: 1 }];
  const request = { upstreams: upstreams.length > 0 ? upstreams : byDefault, body: upstreamBody, requestId };
  return services.chat.upstreams.openUpstream(request, disconnected);
}

interface UndeliveredCall {
  thrown: unknown;
  /** The upstream that accepted the call; null when none did. */
  upstream: UpstreamAnswer | null;
  messagesText: () => string;
  /** Whether the caller disconnected. */
  isDisconnected: boolean;
}

/**
 * Finishes a call of which nothing was delivered: nothing is charged. The idempotency key is freed unless the
 * error is the caller's own (below 500). Resolves to the error for the caller.
 */
async function failUndelivered(
  ctx: RequestContext<KeyCaller>,
  billing: ChatBilling,
  { thrown, upstream, messagesText, isDisconnected }: UndeliveredCall,
): Promise<GatewayError> {
  const failure = thrown instanceof ChatFailed ? thrown.failure : thrown;
  const tried: readonly TriedUpstream[] =
    thrown instanceof ChatFailed ? thrown.tried : (upstream?.tried ?? []);
  const isUpstreams = failure instanceof UpstreamFailure;
  const error = isUpstreams
    ? explainFailure(failure, messagesText())
    : new GatewayError('internal_error', { cause: thrown });
  await billing.finish({
    status: isDisconnected ? 'cancelled' : 'failed',
    consumption: { kind: 'nothing' },
    error: isDisconnected ? null : error,
    upstreamRequestId: isUpstreams ? failure.upstreamRequestId : null,
    tried,
  });
  if (error.status >= 500 || isDisconnected) await releaseIdempotencyKey(ctx);
  return error;
}

/**
 * Refuses a key whose earlier request broke off when its process died: what was charged then is not delivered
 * twice. Throws `idempotency_in_progress` while the sweeper has not settled that call yet.
 */
async function rejectAlreadyCharged({ em, idempotency }: RequestContext<KeyCaller>): Promise<void> {
  if (!idempotency?.resumedId) return;
  const charged = await findCharge(em, idempotency.resumedId);
  if (charged === null) throw idempotencyInProgress();
  if (charged > 0n)
    throw new GatewayError('idempotency_key_reused', {
      message:
        'An earlier request with this key broke off and was charged for what it delivered. Use another key.',
    });
}
