// Relays a streamed answer event by event, at the pace of its reader, and bills it however it ends.
import { once } from 'node:events';
import type { Response } from 'express';
import { ERRORS, GatewayError } from '../../domain/errors.ts';
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
import { usageLimits, type PricedChat } from './read-chat.ts';
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
  /** Silence before a comment is sent. */
  commentEveryMs: number;
}

/**
 * Default of `commentEveryMs`: proxies on the way to the caller cut connections that are silent for longer.
 */
export const COMMENT_EVERY_MS = 10_000;

/**
 * Writes the whole stream, and returns all that was written, for replays; null when the stream broke off.
 * Never rejects: after the first byte, errors are events of the stream.
 */
export async function relayStream(res: Response, relay: StreamRelay): Promise<string | null> {
  const { upstream, stopping } = relay;
  const keepAlive = sendKeepAlive(res, relay.commentEveryMs);
  const state: State = { events: new StreamEvents(), usage: undefined, isUsageFinal: false, keepAlive };
  const cut = (): void => void upstream.body.destroy();
  stopping.addEventListener('abort', cut);
  try {
    await forwardEvents(res, relay, state);
    return await completeStream(res, relay, state);
  } catch (error) {
    await abortStream(res, relay, state, error);
    return null;
  } finally {
    stopping.removeEventListener('abort', cut);
    keepAlive.stop();
    if (!res.writableEnded) res.end();
  }
}

interface KeepAlive {
  noteWrite(): void;
  stop(): void;
}

interface State {
  events: StreamEvents;
  /** The usage that the upstream reported last. */
  usage: unknown;
  /** Whether `usage` came in an event of its own, after the answer. */
  isUsageFinal: boolean;
  keepAlive: KeepAlive;
}

async function forwardEvents(res: Response, relay: StreamRelay, state: State): Promise<void> {
  const { body } = relay.upstream;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    relay.stopping.throwIfAborted();
    for (const piece of state.events.read(chunk)) {
      if (piece.kind === 'done') return drainBody(relay.upstream);
      if (piece.kind === 'error') throw new UpstreamFailure('transient', 'unknown', { text: piece.message });
      await forwardPiece(res, relay, state, piece);
    }
  }
}

async function forwardPiece(
  res: Response,
  relay: StreamRelay,
  state: State,
  piece: Extract<StreamPiece, { text: unknown }>,
): Promise<void> {
  if (piece.kind === 'usage') {
    state.usage = piece.usage;
    state.isUsageFinal = piece.text === null;
  }
  if (piece.text === null) return;
  relay.delivered.add(piece.text);
  state.keepAlive.noteWrite();
  if (!res.write(piece.text)) await waitForDrain(res, AbortSignal.any([relay.disconnected, relay.stopping]));
}

/**
 * Bills a stream that ended in order, then writes its usage and `[DONE]`. Throws when the stream was empty.
 */
async function completeStream(res: Response, relay: StreamRelay, state: State): Promise<string> {
  const { chat, billing, delivered } = relay;
  const usage = readUsage(relay, state);
  if (!usage && delivered.isEmpty) throw new MalformedStreamError('a stream with nothing in it');
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: delivered.text() };
  const charge = await billing.finish(outcomeOf(relay, { status: 'completed', consumption, error: null }));
  const reported = usage && state.usage;
  const last = chat.includeUsage ? usageEvent(delivered.first, chat, presentUsage(reported, charge)) : '';
  const end = `${last}data: [DONE]\n\n`;
  if (!res.destroyed) res.write(end);
  return delivered.all() + end;
}

/**
 * Bills a stream that broke off: the caller disconnected, the upstream failed, or this process stops. The
 * prompt and what was delivered are charged; a stream that failed before its first text is free.
 */
async function abortStream(res: Response, relay: StreamRelay, state: State, thrown: unknown): Promise<void> {
  const { upstream, billing, delivered, disconnected, stopping, messagesText } = relay;
  upstream.body.destroy();
  if (disconnected.aborted) {
    const consumption = partialConsumption(relay, state);
    await billing.finish(outcomeOf(relay, { status: 'cancelled', consumption, error: null }));
    return;
  }
  const error = stopping.aborted
    ? new GatewayError('service_unavailable')
    : explainFailure(streamFailure(thrown, upstream), messagesText());
  const isNothing = delivered.text() === '';
  const consumption: Consumption = isNothing ? { kind: 'nothing' } : partialConsumption(relay, state);
  await billing.finish(outcomeOf(relay, { status: 'failed', consumption, error }));
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

function readUsage({ chat }: StreamRelay, { usage }: State): ChatUsage | null {
  return readChatUsage(usage, usageLimits(chat));
}

/**
 * Determines what a stream that broke off has consumed: the reported usage, if it came at the end of the
 * answer. Upstreams that report usage with every event had not finished counting, so the delivered text is
 * counted instead.
 */
function partialConsumption(relay: StreamRelay, state: State): Consumption {
  const usage = state.isUsageFinal ? readUsage(relay, state) : null;
  return usage ? { kind: 'reported', usage } : { kind: 'counted', text: relay.delivered.text() };
}

/** Writes the last event as OpenAI does: no choices, and the usage of the whole call. */
function usageEvent(firstEvents: string, chat: PricedChat, usage: object): string {
  const { id = null, created = null, model = chat.model.id } = parseFirstEvent(firstEvents);
  const event = { id, object: 'chat.completion.chunk', created, model, choices: [], usage };
  return `data: ${JSON.stringify(event)}\n\n`;
}

function parseFirstEvent(events: string): Record<string, unknown> {
  try {
    const [event = ''] = events.split('\n\n', 1);
    const json: unknown = JSON.parse(event.slice(event.indexOf('{')));
    return typeof json === 'object' && json !== null ? Object.fromEntries(Object.entries(json)) : {};
  } catch {
    return {};
  }
}

function errorEvent(res: Response, { code, message, param }: GatewayError): string {
  const { type } = ERRORS[code];
  return `data: ${JSON.stringify({ error: { message, type, param, code, request_id: requireLocal(res, 'requestId') } })}\n\n`;
}

/** Waits for a slow reader, which holds the upstream back. Rejects when `signal` is aborted. */
async function waitForDrain(res: Response, signal: AbortSignal): Promise<void> {
  if (res.destroyed) return;
  await once(res, 'drain', { signal });
}

/** Sends a comment whenever nothing was written for `everyMs`. */
function sendKeepAlive(res: Response, everyMs: number): KeepAlive {
  let lastAt = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - lastAt < everyMs || res.destroyed) return;
    lastAt = Date.now();
    res.write(': still at work\n\n');
  }, everyMs / 10);
  return { noteWrite: () => void (lastAt = Date.now()), stop: () => clearInterval(timer) };
}
