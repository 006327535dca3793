// The form of an answer: how billing reads what one kind of upstream sends, and what the caller is sent.
import type { GatewayError } from '../../domain/errors.ts';
import type { UpstreamAnswer } from '../../providers/chat/chat.ts';
import type { RequestContext, KeyCaller } from '../context.ts';
import type { ChatCharge } from './chat-billing.ts';
import type { WholeFormSource } from './whole-reading.ts';
import type { PricedChat } from './request/read-chat.ts';
import type { StreamPiece } from './stream-events.ts';

/** A call that was read, and what its answers look like. */
export interface ReadCall {
  priced: PricedChat;
  /** The texts of the request, which error texts must not repeat. */
  requestText: () => string;
  /** Returns the form of the answer that this upstream has begun. */
  formOf: (chat: PricedChat, upstream: UpstreamAnswer, requestId: string) => AnswerForm;
}

/** Reads the request of one surface: chat completions or Responses. Writes nothing. */
export type ReadSurface = (ctx: RequestContext<KeyCaller>) => ReadCall;

/** Usage is read under the names that chat completions give it, whatever the upstream calls it. */
export interface AnswerForm {
  whole: WholeForm;
  /** Opens the form of a stream; it remembers what has passed. */
  openStream: () => StreamForm;
}

export interface WholeForm {
  /** Whether the JSON is an answer at all. */
  isAnswer(json: Record<string, unknown>): boolean;
  /** The reported usage; anything else where there is none. */
  usageOf(json: Record<string, unknown>): unknown;
  /** All text that the model wrote, for counting. */
  billableTextOf(json: Record<string, unknown>): string;
  /** The usage for the caller, from the upstream's own; null when its tokens were counted here. */
  presentUsage(reported: unknown, charge: ChatCharge): object;
  /** The body for the caller; `usage` is its member of that name. */
  present(json: Record<string, unknown>, usage: object | string): object;
  /** From which a thread makes the same form. */
  source: WholeFormSource;
}

export interface StreamForm {
  /** Splits chunks of the upstream into pieces. */
  read(chunk: Buffer): StreamPiece[];
  /** What is left when the upstream has ended. Throws MalformedStreamError when that is cut. */
  readEnd(): StreamPiece[];
  /** The text that the model wrote in one event of the upstream, for counting. */
  billableTextOf(json: unknown): string;
  /** Whether these events of the upstream end the answer, so that only its usage is left to come. */
  isFinished(events: string): boolean;
  /** What the caller is sent for these events of the upstream; may be empty. */
  render(events: string): string;
  /** Throws MalformedStreamError when the upstream ended before its answer did. */
  requireEnd(): void;
  /** What ends the stream: the usage, and the marks of its end. */
  end(usage: unknown, charge: ChatCharge): string;
  /** What tells the caller that the stream broke off. */
  fail(error: GatewayError): string;
}
