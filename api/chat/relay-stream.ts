// A streamed answer: passed on as it comes, held back when the reader is slow, and billed however it ends.
import { once } from 'node:events';
import type { Response } from 'express';
import { ERRORS, GatewayError } from '../../domain/errors.ts';
import { readChatUsage, writtenIn } from '../../providers/chat-usage.ts';
import { brokenAnswer, UpstreamFailure, type OpenChat } from '../../providers/chat.ts';
import { requestIdOf } from '../middleware/request-id.ts';
import type { Bill, Consumption, Ending } from './bill.ts';
import { explainFailure } from './chat-errors.ts';
import { usageLimits, type Chat } from './read-chat.ts';
import { StreamBroken, StreamEvents, writtenText, type Piece } from './stream-events.ts';
import { presentUsage } from './views.ts';

export interface Relay {
  chat: Chat;
  bill: Bill;
  open: OpenChat;
  /** Aborted when the caller has gone. */
  left: AbortSignal;
  /** Aborted when this process can wait no longer. */
  stopping: AbortSignal;
  prompt: string;
}

const COMMENT_EVERY_MS = 10_000;

/**
 * Writes the whole stream to its end and answers what was written, or null when it broke off. Never rejects: from the
 * first byte on, errors are part of the stream.
 */
export async function relayStream(res: Response, relay: Relay): Promise<string | null> {
  const heartbeat = beatWhileSilent(res);
  const state: State = { events: new StreamEvents(), passedOn: [], usage: undefined, heartbeat };
  relay.bill.keepAlive(() => textOf(state));
  try {
    await passOn(res, relay, state);
    return await finish(res, relay, state);
  } catch (error) {
    await breakOff(res, relay, state, error);
    return null;
  } finally {
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
  passedOn: string[];
  usage: unknown;
  heartbeat: Heartbeat;
}

async function passOn(res: Response, relay: Relay, state: State): Promise<void> {
  for await (const chunk of relay.open.body) {
    relay.stopping.throwIfAborted();
    for (const piece of state.events.read(chunk)) {
      if (piece.kind === 'done') return;
      if (piece.kind === 'error') throw new UpstreamFailure('transient', 'unknown', { text: piece.message });
      await pass(res, relay, state, piece);
    }
  }
}

async function pass(
  res: Response,
  relay: Relay,
  state: State,
  piece: Extract<Piece, { text: unknown }>,
): Promise<void> {
  if (piece.kind === 'usage') state.usage = piece.usage;
  if (piece.text === null) return;
  state.passedOn.push(piece.text);
  state.heartbeat.noteWrite();
  if (!res.write(piece.text)) await drained(res, relay.left);
}

/** The upstream came to its end: settled first, then told. */
async function finish(res: Response, relay: Relay, state: State): Promise<string> {
  const { chat, bill } = relay;
  const usage = readChatUsage(state.usage, usageLimits(chat));
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: textOf(state) };
  const charged = await bill.settle(endingOf(relay, { status: 'completed', consumption, error: null }));
  const last = chat.tellsUsage ? usageEvent(state, chat, presentUsage(usage && state.usage, charged)) : '';
  const end = `${last}data: [DONE]\n\n`;
  if (!res.destroyed) res.write(end);
  return state.passedOn.join('') + end;
}

/** The caller has gone, or the upstream broke off. What was delivered is charged; an answer that never began is not. */
async function breakOff(res: Response, relay: Relay, state: State, thrown: unknown): Promise<void> {
  relay.open.body.destroy();
  const text = textOf(state);
  if (relay.left.aborted) {
    const consumption: Consumption = { kind: 'counted', text };
    await relay.bill.settle(endingOf(relay, { status: 'cancelled', consumption, error: null }));
    return;
  }
  const failure =
    thrown instanceof UpstreamFailure
      ? thrown
      : thrown instanceof StreamBroken
        ? new UpstreamFailure('invalid_response', 'unknown')
        : brokenAnswer(thrown, relay.open);
  const error = relay.stopping.aborted
    ? new GatewayError('service_unavailable')
    : explainFailure(failure, relay.prompt);
  const consumption: Consumption = text === '' ? { kind: 'nothing' } : { kind: 'counted', text };
  await relay.bill.settle(endingOf(relay, { status: 'failed', consumption, error }));
  if (!res.destroyed) res.write(errorEvent(res, error));
}

function endingOf({ open }: Relay, ending: Omit<Ending, 'upstreamRequestId' | 'tried'>): Ending {
  return { ...ending, upstreamRequestId: open.upstreamRequestId, tried: open.tried };
}

function textOf({ passedOn }: State): string {
  return writtenText(passedOn, writtenIn);
}

/** OpenAI's own last event: no choices, the usage of the whole call. */
function usageEvent(state: State, chat: Chat, usage: object): string {
  const [first = ''] = state.passedOn;
  const { id = null, created = null, model = chat.model.id } = headOf(first);
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

/** Proxies between us and the caller cut connections on which nothing is said. */
function beatWhileSilent(res: Response): Heartbeat {
  let lastAt = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - lastAt < COMMENT_EVERY_MS || res.destroyed) return;
    lastAt = Date.now();
    res.write(': still at work\n\n');
  }, COMMENT_EVERY_MS / 10);
  return { noteWrite: () => void (lastAt = Date.now()), stop: () => clearInterval(timer) };
}
