// A streamed answer: passed on as it comes, held back when the reader is slow, and billed however it ends.
import { once } from 'node:events';
import type { Response } from 'express';
import { ERRORS, GatewayError } from '../../domain/errors.ts';
import { readChatUsage, type ChatUsage } from '../../providers/chat/usage.ts';
import {
  toUpstreamFailure,
  drainBody,
  UpstreamFailure,
  type UpstreamAnswer,
} from '../../providers/chat/chat.ts';
import { requestIdOf } from '../middleware/request-id.ts';
import type { ChatBilling, Consumption, ChatOutcome } from './chat-billing.ts';
import { explainFailure } from './chat-errors.ts';
import { DeliveredEvents } from './delivered-events.ts';
import { usageLimits, type PricedChat } from './read-chat.ts';
import { MalformedStreamError, StreamEvents, type StreamPiece } from './stream-events.ts';
import { presentUsage } from './views.ts';

export interface Relay {
  chat: PricedChat;
  bill: ChatBilling;
  open: UpstreamAnswer;
  /** Aborted when the caller has gone. */
  left: AbortSignal;
  /** Aborted when this process can wait no longer. */
  stopping: AbortSignal;
  /** The messages as a text. */
  prompt: () => string;
  /** The answer may be asked for again, so all of it is kept. */
  mayRepeat: boolean;
  commentEveryMs: number;
}

/** Usual for `commentEveryMs`: proxies between us and the caller cut connections on which nothing is said. */
export const COMMENT_EVERY_MS = 10_000;

/**
 * Writes the whole stream to its end and answers what was written, or null when it broke off. Never rejects: from the
 * first byte on, errors are part of the stream.
 */
export async function relayStream(res: Response, relay: Relay): Promise<string | null> {
  const { bill, open, stopping, mayRepeat } = relay;
  const heartbeat = beatWhileSilent(res, relay.commentEveryMs);
  const delivered = new DeliveredEvents(mayRepeat);
  const state: State = {
    events: new StreamEvents(),
    delivered,
    usage: undefined,
    isUsageFinal: false,
    heartbeat,
  };
  bill.delivered = () => delivered.text();
  const cut = (): void => void open.body.destroy();
  stopping.addEventListener('abort', cut);
  try {
    await passOn(res, relay, state);
    return await finish(res, relay, state);
  } catch (error) {
    await breakOff(res, relay, state, error);
    return null;
  } finally {
    stopping.removeEventListener('abort', cut);
    heartbeat.stop();
    if (!res.writableEnded) res.end();
  }
}

interface Heartbeat {
  noteWrite(): void;
  stop(): void;
}

interface State {
  events: StreamEvents;
  /** What the caller was sent, for counting it where the upstream does not. */
  delivered: DeliveredEvents;
  /** The last that the upstream said, and whether it came by itself, after the answer. */
  usage: unknown;
  isUsageFinal: boolean;
  heartbeat: Heartbeat;
}

async function passOn(res: Response, relay: Relay, state: State): Promise<void> {
  const { body } = relay.open;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    relay.stopping.throwIfAborted();
    for (const piece of state.events.read(chunk)) {
      if (piece.kind === 'done') return drainBody(relay.open);
      if (piece.kind === 'error') throw new UpstreamFailure('transient', 'unknown', { text: piece.message });
      await pass(res, relay, state, piece);
    }
  }
}

async function pass(
  res: Response,
  relay: Relay,
  state: State,
  piece: Extract<StreamPiece, { text: unknown }>,
): Promise<void> {
  if (piece.kind === 'usage') {
    state.usage = piece.usage;
    state.isUsageFinal = piece.text === null;
  }
  if (piece.text === null) return;
  state.delivered.add(piece.text);
  state.heartbeat.noteWrite();
  if (!res.write(piece.text)) await drained(res, AbortSignal.any([relay.left, relay.stopping]));
}

/** The upstream came to its end: settled first, then told. Throws when there was nothing before it. */
async function finish(res: Response, relay: Relay, state: State): Promise<string> {
  const { chat, bill } = relay;
  const usage = readUsage(relay, state);
  if (!usage && state.delivered.isEmpty) throw new MalformedStreamError('a stream with nothing in it');
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: state.delivered.text() };
  const charged = await bill.finish(endingOf(relay, { status: 'completed', consumption, error: null }));
  const last = chat.includeUsage ? usageEvent(state, chat, presentUsage(usage && state.usage, charged)) : '';
  const end = `${last}data: [DONE]\n\n`;
  if (!res.destroyed) res.write(end);
  return state.delivered.whole() + end;
}

/** The caller has gone, or the upstream broke off. What was delivered is charged; an answer that never began is not. */
async function breakOff(res: Response, relay: Relay, state: State, thrown: unknown): Promise<void> {
  relay.open.body.destroy();
  if (relay.left.aborted) {
    const consumption = brokenConsumption(relay, state);
    await relay.bill.finish(endingOf(relay, { status: 'cancelled', consumption, error: null }));
    return;
  }
  const failure =
    thrown instanceof UpstreamFailure
      ? thrown
      : thrown instanceof MalformedStreamError
        ? new UpstreamFailure('invalid_response', 'unknown')
        : toUpstreamFailure(thrown, relay.open);
  const error = relay.stopping.aborted
    ? new GatewayError('service_unavailable')
    : explainFailure(failure, relay.prompt());
  const isNothing = state.delivered.text() === '';
  const consumption: Consumption = isNothing ? { kind: 'nothing' } : brokenConsumption(relay, state);
  await relay.bill.finish(endingOf(relay, { status: 'failed', consumption, error }));
  if (!res.destroyed) res.write(errorEvent(res, error));
}

function endingOf({ open }: Relay, ending: Omit<ChatOutcome, 'upstreamRequestId' | 'tried'>): ChatOutcome {
  return { ...ending, upstreamRequestId: open.upstreamRequestId, tried: open.tried };
}

function readUsage({ chat }: Relay, { usage }: State): ChatUsage | null {
  return readChatUsage(usage, usageLimits(chat));
}

/**
 * What a stream that broke off has brought: as the upstream said, if it said so at the end of its answer. Those that
 * say it with every piece had not finished counting.
 */
function brokenConsumption(relay: Relay, state: State): Consumption {
  const usage = state.isUsageFinal ? readUsage(relay, state) : null;
  return usage ? { kind: 'reported', usage } : { kind: 'counted', text: state.delivered.text() };
}

/** OpenAI's own last event: no choices, the usage of the whole call. */
function usageEvent(state: State, chat: PricedChat, usage: object): string {
  const { id = null, created = null, model = chat.model.id } = headOf(state.delivered.first);
  const event = { id, object: 'chat.completion.chunk', created, model, choices: [], usage };
  return `data: ${JSON.stringify(event)}\n\n`;
}

function headOf(text: string): Record<string, unknown> {
  try {
    const [event = ''] = text.split('\n\n', 1);
    const json: unknown = JSON.parse(event.slice(event.indexOf('{')));
    return typeof json === 'object' && json !== null ? Object.fromEntries(Object.entries(json)) : {};
  } catch {
    return {};
  }
}

function errorEvent(res: Response, { code, message, param }: GatewayError): string {
  const { type } = ERRORS[code];
  return `data: ${JSON.stringify({ error: { message, type, param, code, request_id: requestIdOf(res) } })}\n\n`;
}

/** A slow reader holds the upstream back; one that has gone ends the wait. */
async function drained(res: Response, left: AbortSignal): Promise<void> {
  if (res.destroyed) return;
  await once(res, 'drain', { signal: left });
}

/** A comment now and then while nothing else is said. */
function beatWhileSilent(res: Response, everyMs: number): Heartbeat {
  let lastAt = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - lastAt < everyMs || res.destroyed) return;
    lastAt = Date.now();
    res.write(': still at work\n\n');
  }, everyMs / 10);
  return { noteWrite: () => void (lastAt = Date.now()), stop: () => clearInterval(timer) };
}
