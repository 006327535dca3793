// Relays a streamed answer event by event, at the pace of its reader, and bills it however it ends.
import type { Response } from 'express';
import { ERRORS, type GatewayError } from '../../domain/errors.ts';
import {
  drainBody,
  toUpstreamFailure,
  UpstreamFailure,
  type UpstreamAnswer,
} from '../../providers/chat/chat.ts';
import { readChatUsage, type ChatUsage } from '../../providers/chat/usage.ts';
import { requireLocal } from '../http/locals.ts';
import type { ChatBilling, ChatOutcome } from './chat-billing.ts';
import type { Consumption } from './chat-cost.ts';
import { explainFailure } from './chat-errors.ts';
import type { DeliveredEvents } from './delivered-events.ts';
import { tokensPlausibleMax, type PricedChat } from './read-chat.ts';
import { StreamCut, type StreamLimits } from './stream-cut.ts';
import { readHead, renameModel, type AnswerHead } from './answer-head.ts';
import { MalformedStreamError, StreamEvents, type StreamPiece } from './stream-events.ts';
import { presentUsage } from './views.ts';

export interface StreamRelay {
  chat: PricedChat;
  /** The billing of the call, which has reserved; it is finished here, exactly once. */
  billing: ChatBilling;
  /** The accepted call, whose body has not been read yet. */
  upstream: UpstreamAnswer;
  /** Receives every event that the caller is sent; empty at the start. */
  delivered: DeliveredEvents;
  /** Aborted when the caller disconnects. */
  disconnected: AbortSignal;
  /** Aborted when this process stops and must cut its streams. */
  stopping: AbortSignal;
  /** The messages as a text, which error texts must not repeat. */
  messagesText: () => string;
  limits: StreamLimits;
}

/** How long a reader that took nothing may still fetch the error that ended its stream. */
const UNREAD_LINGER_MS = 30_000;
const FINISHED = /"finish_reason"\s*:\s*"/;

/**
 * Writes the whole stream, and returns all that was written, for replays; null when the stream broke off.
 * Never rejects: after the first byte, errors are events of the stream.
 */
export async function relayStream(res: Response, relay: StreamRelay): Promise<string | null> {
  const { limits, upstream, disconnected, stopping } = relay;
  const keepAlive = sendKeepAlive(res, limits.commentEveryMs);
  const state: State = {
    events: new StreamEvents(),
    head: null,
    lastText: '',
    usage: undefined,
    isUsageFinal: false,
  };
  const isAnswerComplete = (): boolean => FINISHED.test(state.lastText);
  const cut = new StreamCut({ body: upstream.body, disconnected, stopping, ...limits, isAnswerComplete });
  const stream: Stream = { ...relay, res, state, keepAlive, cut };
  try {
    await forwardEvents(stream);
    return await completeStream(stream);
  } catch (error) {
    await abortStream(stream, error);
    return null;
  } finally {
    cut.release();
    keepAlive.stop();
    if (!res.writableEnded) res.end();
    if (cut.cause === 'unread') setTimeout(() => res.destroy(), UNREAD_LINGER_MS).unref();
  }
}

/** A stream that is being relayed. */
interface Stream extends StreamRelay {
  res: Response;
  state: State;
  keepAlive: KeepAlive;
  cut: StreamCut;
}

interface KeepAlive {
  noteWrite(): void;
  stop(): void;
}

interface State {
  events: StreamEvents;
  /** What the first event with an id says of the whole answer; null before. */
  head: AnswerHead | null;
  /** The events that were taken last. */
  lastText: string;
  /** The usage that the upstream reported last. */
  usage: unknown;
  /** Whether `usage` came in an event of its own, after the answer. */
  isUsageFinal: boolean;
}

async function forwardEvents(stream: Stream): Promise<void> {
  const { upstream, state, disconnected, cut } = stream;
  for await (const chunk of upstream.body.iterator({ destroyOnReturn: false }))
    for (const piece of state.events.read(chunk)) {
      if (piece.kind === 'done') return drainBody(upstream);
      if (piece.kind === 'error') throw new UpstreamFailure('transient', 'unknown', { text: piece.message });
      const text = piece.text && renameModel(piece.text, stream.chat.model.id);
      takePiece(stream, { ...piece, text });
      // What arrives after the caller has left counts, although it is not delivered: the upstream bills it.
      if (text !== null && !disconnected.aborted) await writePiece(stream, text);
      if (cut.cause !== null) throw new Error(`the stream was cut: ${cut.cause}`);
    }
}

type TakenPiece = Pick<Extract<StreamPiece, { kind: 'usage' }>, 'text'> &
  ({ kind: 'text' } | { kind: 'usage'; usage: unknown });

function takePiece({ state, delivered }: Stream, piece: TakenPiece): void {
  if (piece.kind === 'usage') {
    state.usage = piece.usage;
    state.isUsageFinal = piece.text === null;
  }
  if (piece.text === null) return;
  state.head ??= readHead(piece.text);
  state.lastText = piece.text;
  delivered.add(piece.text);
}

async function writePiece({ res, keepAlive, cut }: Stream, text: string): Promise<void> {
  keepAlive.noteWrite();
  if (!res.write(text)) await cut.untilRead(res);
}

/**
 * Bills a stream that ended in order, then writes its usage and `[DONE]`. Throws when the stream was empty.
 */
async function completeStream(stream: Stream): Promise<string> {
  const { res, chat, billing, delivered, disconnected, state } = stream;
  const usage = readUsage(stream);
  if (!usage && delivered.isEmpty) throw new MalformedStreamError('a stream with nothing in it');
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: delivered.text() };
  const status = disconnected.aborted ? 'cancelled' : 'completed';
  const charge = await billing.finish(outcomeOf(stream, { status, consumption, error: null }));
  const reported = usage && state.usage;
  const last = chat.includeUsage ? usageEvent(stream, presentUsage(reported, charge)) : '';
  const end = `${last}data: [DONE]\n\n`;
  if (!res.destroyed) res.write(end);
  return delivered.all() + end;
}

/**
 * Bills a stream that broke off: the caller disconnected or took nothing, it lived too long, the upstream
 * failed, or this process stops. The prompt and what was delivered are charged; a stream that the upstream or
 * this process broke off before its first text is free.
 */
async function abortStream(stream: Stream, thrown: unknown): Promise<void> {
  const { res, upstream, billing, delivered, disconnected, messagesText, cut } = stream;
  upstream.body.destroy();
  if (disconnected.aborted) {
    const consumption = partialConsumption(stream);
    await billing.finish(outcomeOf(stream, { status: 'cancelled', consumption, error: null }));
    return;
  }
  const error = cut.error() ?? explainFailure(streamFailure(thrown, upstream), messagesText());
  const isOnCaller = cut.cause === 'unread' || cut.cause === 'too_long';
  const isFree = !isOnCaller && delivered.text() === '';
  const consumption: Consumption = isFree ? { kind: 'nothing' } : partialConsumption(stream);
  await billing.finish(outcomeOf(stream, { status: 'failed', consumption, error }));
  if (!res.destroyed) res.write(errorEvent(res, error));
}

function streamFailure(thrown: unknown, upstream: UpstreamAnswer): UpstreamFailure {
  if (thrown instanceof UpstreamFailure) return thrown;
  if (thrown instanceof MalformedStreamError) return new UpstreamFailure('invalid_response', 'unknown');
  return toUpstreamFailure(thrown, upstream);
}

function outcomeOf(
  { upstream }: StreamRelay,
  outcome: Omit<ChatOutcome, 'upstreamRequestId' | 'tried'>,
): ChatOutcome {
  return { ...outcome, upstreamRequestId: upstream.upstreamRequestId, tried: upstream.tried };
}

function readUsage({ chat, state }: Stream): ChatUsage | null {
  return readChatUsage(state.usage, tokensPlausibleMax(chat));
}

/**
 * Determines what a stream that broke off has consumed: the reported usage, if it came at the end of the
 * answer. Upstreams that report usage with every event had not finished counting, so the delivered text is
 * counted instead.
 */
function partialConsumption(stream: Stream): Consumption {
  const usage = stream.state.isUsageFinal ? readUsage(stream) : null;
  return usage ? { kind: 'reported', usage } : { kind: 'counted', text: stream.delivered.text() };
}

/** Writes the last event as OpenAI does: no choices, and the usage of the whole call. */
function usageEvent({ res, chat, state }: Stream, usage: object): string {
  const head = state.head ?? {
    id: `chatcmpl-${requireLocal(res, 'requestId')}`,
    created: Math.trunc(Date.now() / 1000),
  };
  const event = { ...head, object: 'chat.completion.chunk', model: chat.model.id, choices: [], usage };
  return `data: ${JSON.stringify(event)}\n\n`;
}

function errorEvent(res: Response, { code, message, param }: GatewayError): string {
  const { type } = ERRORS[code];
  return `data: ${JSON.stringify({ error: { message, type, param, code, request_id: requireLocal(res, 'requestId') } })}\n\n`;
}

/** Sends a comment whenever nothing was written for `everyMs`. */
function sendKeepAlive(res: Response, everyMs: number): KeepAlive {
  let lastAt = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - lastAt < everyMs || res.destroyed || res.writableNeedDrain) return;
    lastAt = Date.now();
    res.write(': still at work\n\n');
  }, everyMs / 10);
  return { noteWrite: () => void (lastAt = Date.now()), stop: () => clearInterval(timer) };
}
