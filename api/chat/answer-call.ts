// Answers a call of chat: reserves credits, calls the upstream, relays its answer, settles in every case.
import { setImmediate } from 'node:timers/promises';
import { findCharge } from '../../db/chat/chat-ledger.ts';
import type { TriedUpstream } from '../../domain/chat-calls.ts';
import { upstreamsOf } from '../../domain/catalog/upstream.ts';
import { GatewayError, type ErrorCode } from '../../domain/errors.ts';
import { ChatFailed, UpstreamFailure, type UpstreamAnswer } from '../../providers/chat/chat.ts';
import type { AnswerForm, ReadSurface } from './answer-form.ts';
import { ChatBilling } from './chat-billing.ts';
import { explainFailure } from './chat-errors.ts';
import { CallCut, type CallCutCause } from './call-cut.ts';
import { DeliveredEvents } from './delivered-events.ts';
import type { PricedChat } from './request/read-chat.ts';
import { relayStream } from './relay-stream.ts';
import { answerWhole } from './whole-answer.ts';
import type { KeyCaller, Reply, RequestContext } from '../context.ts';
import { inspectImages } from '../uploads/input-images.ts';
import { releaseIdempotencyKey, idempotencyInProgress } from '../idempotent-effects.ts';

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no', // asks reverse proxies not to collect the stream
};

/** The error of a call that was cut; null where its caller, who left, has cut it. */
const CUT_CODES: Readonly<Record<CallCutCause, ErrorCode | null>> = {
  left: null,
  lost: 'service_unavailable',
  stopping: 'service_unavailable',
  too_long: 'upstream_timeout',
};

/** Calls end all the time, so an early retry is of use. */
const CONCURRENCY_RETRY_MS = 1_000;

/** Answers a call of a surface. Reservation, upstreams and settlement are the same for all of them. */
export async function answerCall(ctx: RequestContext<KeyCaller>, read: ReadSurface): Promise<Reply> {
  const { lossBrake } = ctx.services;
  const isHeld = lossBrake.isOn && (await lossBrake.holds(ctx.caller.user.id));
  // What streams may cost shows late when their readers leave; whole answers are awaited.
  if (isHeld && ctx.body['stream'] === true) throw new GatewayError('stream_not_allowed');
  const leave = enterCall(ctx, isHeld);
  let isStreaming = false;
  try {
    const reply = await answerChat(ctx, read);
    const { stream } = reply;
    if (!stream) return reply;
    isStreaming = true;
    return { ...reply, stream: (res) => stream(res).finally(leave) };
  } finally {
    if (!isStreaming) leave();
  }
}

async function answerChat(ctx: RequestContext<KeyCaller>, read: ReadSurface): Promise<Reply> {
  const { priced, requestText, formOf } = await ctx.workOnBody(() => read(ctx));
  if (priced.images.length > 0) await inspectImages(priced.images);
  if (ctx.idempotency) await rejectAlreadyCharged(ctx);
  const billing = new ChatBilling(ctx, priced);
  const chat = await billing.reserve();
  const { keptStreams: budget, streamLimits, cutsAtStop } = ctx.services.chat;
  const delivered = new DeliveredEvents(ctx.idempotency && { budget, userId: ctx.caller.user.id });
  const cut = new CallCut();
  billing.keepAlive(
    () => delivered.text(),
    () => cut.lose(),
  );
  // A whole answer is worked on and billed by the upstream also when its caller leaves, so it is awaited.
  if (chat.stream) cut.cutWhenLeft(ctx.disconnected());
  else cut.cutInTheEnd(cutsAtStop, streamLimits.secondsMax);
  let upstream: UpstreamAnswer | null = null;
  let form: AnswerForm;
  try {
    upstream = await openUpstream(ctx, chat, cut.signal);
    form = formOf(chat, upstream, ctx.requestId);
    if (!chat.stream) return await answerWhole(ctx, { chat, billing, upstream, form: form.whole });
  } catch (thrown) {
    const isDisconnected = ctx.hasLeft();
    const cutCode = cut.cause && CUT_CODES[cut.cause];
    const undelivered = { thrown, upstream, requestText, isDisconnected, cutCode };
    const error = await failUndelivered(ctx, billing, undelivered);
    // Its caller has left, and no upstream failed: what was cut is no cause to log.
    throw cut.cause === 'left' ? new GatewayError(error.code) : error;
  } finally {
    cut.release();
  }
  const streamForm = form.openStream();
  delivered.readText = (json) => streamForm.billableTextOf(json);
  const call = { chat, billing, upstream, form: streamForm, delivered, requestText };
  const relay = { ...call, disconnected: ctx.disconnected(), cutsAtStop, callCut: cut };
  return {
    status: 200,
    headers: STREAM_HEADERS,
    stream: (res) => relayStream(res, { ...relay, limits: streamLimits }),
  };
}

/**
 * Counts the call among those of its user. Throws 429 when they are too many; a user whom the loss brake
 * holds may have one.
 */
function enterCall({ services, caller }: RequestContext<KeyCaller>, isHeld: boolean): () => void {
  const { running } = services.chat;
  const points = isHeld ? 1 : running.perUserMax;
  const leave = running.enter(caller.user.id, points);
  if (leave) return leave;
  const quota = { name: 'concurrent-chat', points, seconds: null };
  const state = { backend: 'memory', resetMs: CONCURRENCY_RETRY_MS } as const;
  throw services.limits.refuse('concurrency_limited', quota, state);
}

function openUpstream(
  { services, caller, requestId }: RequestContext<KeyCaller>,
  { model, upstreamBody, responses }: PricedChat,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const upstreams = upstreamsOf(model);
  const request = { upstreams, body: upstreamBody, responses, userId: caller.user.id, requestId };
  return services.chat.upstreams.openUpstream(request, signal);
}

interface UndeliveredCall {
  thrown: unknown;
  /** The upstream that accepted the call; null when none did. */
  upstream: UpstreamAnswer | null;
  requestText: () => string;
  /** Whether the caller disconnected. */
  isDisconnected: boolean;
  /** The error of a cut that came from our side, and not from the upstream or the caller; null without. */
  cutCode: ErrorCode | null;
}

/**
 * Finishes a call of which nothing was delivered: nothing is charged, but the prompt of a whole answer that
 * was still worked on for a caller who had left. The idempotency key is freed unless the error is the
 * caller's own (below 500). Resolves to the error for the caller.
 */
async function failUndelivered(
  ctx: RequestContext<KeyCaller>,
  billing: ChatBilling,
  { thrown, upstream, requestText, isDisconnected, cutCode }: UndeliveredCall,
): Promise<GatewayError> {
  const failure = thrown instanceof ChatFailed ? thrown.failure : thrown;
  const tried: readonly TriedUpstream[] =
    thrown instanceof ChatFailed ? thrown.tried : (upstream?.tried ?? []);
  const isUpstreams = failure instanceof UpstreamFailure;
  const error = cutCode
    ? new GatewayError(cutCode)
    : await ctx.workOnBody(() => errorOf(thrown, failure, requestText));
  const isPromptOwed = isDisconnected && cutCode !== null;
  await billing.finish({
    status: isDisconnected ? 'cancelled' : 'failed',
    consumption: isPromptOwed ? { kind: 'counted', text: '' } : { kind: 'nothing' },
    error: isDisconnected ? null : error,
    upstreamRequestId: isUpstreams ? failure.upstreamRequestId : null,
    tried,
  });
  if (error.status >= 500 || isDisconnected) await releaseIdempotencyKey(ctx);
  return error;
}

async function errorOf(thrown: unknown, failure: unknown, requestText: () => string): Promise<GatewayError> {
  if (failure instanceof UpstreamFailure) {
    const prompt = requestText();
    await setImmediate(); // each takes milliseconds for a long prompt
    return explainFailure(failure, prompt);
  }
  return failure instanceof GatewayError ? failure : new GatewayError('internal_error', { cause: thrown });
}

/**
 * Refuses a key whose earlier request broke off when its process died: what was charged then is not delivered
 * twice. Throws `idempotency_in_progress` while the sweeper has not settled that call yet; when nothing was
 * charged, this request does the work.
 */
async function rejectAlreadyCharged(ctx: RequestContext<KeyCaller>): Promise<void> {
  const resumedId = ctx.idempotency?.resumedId ?? null;
  if (resumedId === null) return;
  const charged = await findCharge(ctx.em, ctx.caller.user.id, resumedId);
  if (charged === null) throw idempotencyInProgress();
  if (charged > 0n)
    throw new GatewayError('idempotency_key_reused', {
      message:
        'An earlier request with this key broke off and was charged for what it delivered. Use another key.',
    });
}
