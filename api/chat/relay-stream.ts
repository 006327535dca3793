// Relays a streamed answer event by event, at the pace of its reader, and bills it however it ends.
import type { Response } from 'express';
import {
  drainBody,
  toUpstreamFailure,
  UpstreamFailure,
  type UpstreamAnswer,
} from '../../providers/chat/chat.ts';
import type { StreamedBody } from '../context.ts';
import { leaveToStream } from '../http/unread-answers.ts';
import { readChatUsage, type ChatUsage } from '../../providers/chat/usage.ts';
import type { StreamForm } from './answer-form.ts';
import type { CallCut, CutsAtStop } from './call-cut.ts';
import type { ChatBilling, ChatOutcome } from './chat-billing.ts';
import type { Consumption } from './chat-cost.ts';
import { explainFailure } from './chat-errors.ts';
import type { DeliveredEvents } from './delivered-events.ts';
import { tokensPlausibleMax, type PricedChat } from './request/read-chat.ts';
import { StreamCut, type StreamLimits } from './stream-cut.ts';
import { MalformedStreamError, type StreamPiece } from './stream-events.ts';

export interface StreamRelay {
  chat: PricedChat;
  /** The billing of the call, which has reserved; it is finished here, exactly once. */
  billing: ChatBilling;
  /** The accepted call, whose body has not been read yet. */
  upstream: UpstreamAnswer;
  /** How the upstream's events are read, and what the caller is sent for them. */
  form: StreamForm;
  /** Receives every event that the caller is sent; empty at the start. */
  delivered: DeliveredEvents;
  /** Aborted when the caller disconnects. */
  disconnected: AbortSignal;
  cutsAtStop: CutsAtStop;
  /** Tells when the reservation is lost. */
  callCut: CallCut;
  /** The texts of the request, which error texts must not repeat. */
  requestText: () => string;
  limits: StreamLimits;
}

/** How long a reader that took nothing may still fetch the error that ended its stream. */
const UNREAD_LINGER_MS = 30_000;

/**
 * Writes the stream up to its end, and returns both; null when the stream broke off. Never rejects: after the
 * first byte, errors are events of the stream.
 */
export async function relayStream(res: Response, relay: StreamRelay): Promise<StreamedBody | null> {
  const { limits, upstream, form, disconnected, cutsAtStop, callCut } = relay;
  leaveToStream(res);
  const keepAlive = sendKeepAlive(res, limits.commentEveryMs);
  const state: State = {
    lastText: '',
    usage: undefined,
    isUsageFinal: false,
  };
  const isAnswerComplete = (): boolean => form.isFinished(state.lastText);
  const cut = new StreamCut({
    body: upstream.body,
    disconnected,
    cutsAtStop,
    callCut,
    ...limits,
    isAnswerComplete,
  });
  const stream: Stream = { ...relay, res, state, keepAlive, cut };
  try {
    await forwardEvents(stream);
    return await completeStream(stream);
  } catch (error) {
    await abortStream(stream, error).finally(() => stream.delivered.release());
    return null;
  } finally {
    cut.release();
    keepAlive.stop();
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
  /** The events that were taken last. */
  lastText: string;
  /** The usage that the upstream reported last. */
  usage: unknown;
  /** Whether `usage` came in an event of its own, after the answer. */
  isUsageFinal: boolean;
}

async function forwardEvents(stream: Stream): Promise<void> {
  const { upstream, form } = stream;
  for await (const chunk of upstream.body.iterator({ destroyOnReturn: false }))
    if (await forwardPieces(stream, form.read(chunk))) return drainBody(upstream);
  await forwardPieces(stream, form.readEnd());
}

/** Returns whether the answer is done. */
async function forwardPieces(stream: Stream, pieces: readonly StreamPiece[]): Promise<boolean> {
  const { disconnected, cut } = stream;
  for (const piece of pieces) {
    if (piece.kind === 'done') return true;
    if (piece.kind === 'error') throw new UpstreamFailure('transient', 'unknown', { text: piece.message });
    const text = takePiece(stream, piece);
    // What arrives after the caller has left counts, although it is not delivered: the upstream bills it.
    if (text !== '' && !disconnected.aborted) await writePiece(stream, text);
    if (cut.cause !== null) throw new Error(`the stream was cut: ${cut.cause}`);
  }
  return false;
}

type TakenPiece = Extract<StreamPiece, { kind: 'text' | 'usage' }>;

/** Returns what the caller is sent for the piece. */
function takePiece({ state, form, delivered }: Stream, piece: TakenPiece): string {
  if (piece.kind === 'usage') {
    state.usage = piece.usage;
    state.isUsageFinal = piece.text === null;
  }
  if (piece.text === null) return '';
  state.lastText = piece.text;
  const sent = form.render(piece.text);
  const counted = piece.kind === 'text' ? piece.counted : undefined;
  delivered.add(counted ?? piece.text, sent);
  if (delivered.isEndless) throw new MalformedStreamError('a stream longer than any answer');
  return sent;
}

async function writePiece({ res, keepAlive, cut }: Stream, text: string): Promise<void> {
  keepAlive.noteWrite();
  if (!res.write(text)) await cut.untilRead(res);
}

/** Bills a stream that ended in order; answers its usage as its end. Throws when the stream was empty. */
async function completeStream(stream: Stream): Promise<StreamedBody> {
  const { form, billing, delivered, disconnected, state } = stream;
  form.requireEnd();
  const usage = readUsage(stream);
  if (delivered.isEmpty) throw new MalformedStreamError('a stream with nothing in it');
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: delivered.text() };
  const status = disconnected.aborted ? 'cancelled' : 'completed';
  const charge = await billing.finish(outcomeOf(stream, { status, consumption, error: null }));
  const end = form.end(usage && state.usage, charge);
  return { written: delivered.allBefore(end), end, release: () => delivered.release() };
}

/**
 * Bills a stream that broke off: the caller disconnected or took nothing, it lived too long, its lease was
 * lost, the upstream failed, or this process stops. The prompt and what was delivered are charged; a stream
 * that the upstream or this process broke off before its first text is free.
 */
async function abortStream(stream: Stream, thrown: unknown): Promise<void> {
  const { res, upstream, form, billing, delivered, disconnected, requestText, cut } = stream;
  upstream.body.destroy();
  if (disconnected.aborted) {
    const consumption = partialConsumption(stream);
    await billing.finish(outcomeOf(stream, { status: 'cancelled', consumption, error: null }));
    return;
  }
  const error = cut.error() ?? explainFailure(streamFailure(thrown, upstream), requestText());
  const isOnCaller = cut.cause === 'unread' || cut.cause === 'too_long';
  const isFree = !isOnCaller && delivered.text() === '';
  const consumption: Consumption = isFree ? { kind: 'nothing' } : partialConsumption(stream);
  await billing.finish(outcomeOf(stream, { status: 'failed', consumption, error }));
  if (!res.destroyed) res.write(form.fail(error));
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
