// Reads an answer that is not streamed, bills it, and passes it on with its cost.
import { toUpstreamFailure, UpstreamFailure, type UpstreamAnswer } from '../../providers/chat/chat.ts';
import { readChatUsage } from '../../providers/chat/usage.ts';
import type { KeyCaller, Reply, RequestContext } from '../context.ts';
import type { EndTurn, NoTurn } from '../http/turns.ts';
import { NEVER } from '../http/long-work.ts';
import type { ChatServices } from '../services.ts';
import type { WholeForm } from './answer-form.ts';
import type { WholeAnswer } from './whole-reading.ts';
import type { ChatBilling } from './chat-billing.ts';
import type { Consumption } from './chat-cost.ts';
import { parseAnswer } from './parse-answer.ts';
import { tokensPlausibleMax, type PricedChat } from './request/read-chat.ts';

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Longer ones are read in a thread: the worst of this length take 20 ms. */
const SHORT_BYTES_MAX = 256 * 1024;

/** A call whose upstream has begun an answer that is not streamed. */
export interface WholeCall {
  chat: PricedChat;
  billing: ChatBilling;
  upstream: UpstreamAnswer;
  form: WholeForm;
}

/**
 * Reads and bills the answer. Throws an UpstreamFailure when there is no readable answer: then nothing was
 * delivered, and nothing is billed. The turn of a long answer ends when it was billed and taken, since it is
 * in memory until then, also when its caller has left.
 */
export async function answerWhole(ctx: RequestContext<KeyCaller>, call: WholeCall): Promise<Reply> {
  const { longAnswerTurns } = ctx.services;
  let turn: EndTurn | NoTurn = 'left';
  const takeTurn = async (): Promise<void> => {
    turn = await longAnswerTurns.take(ctx.caller.user.id, NEVER);
  };
  try {
    const bytes = await collectBody(call.upstream, takeTurn).catch((error: unknown) => {
      throw toUpstreamFailure(error, call.upstream);
    });
    return await billAnswer(call, bytes && (await readAnswer(bytes, call.form, ctx.services.chat)));
  } finally {
    endAfterAnswer(ctx, turn);
  }
}

/** A turn that came late is none: the answer goes on without. */
function endAfterAnswer(ctx: RequestContext<KeyCaller>, turn: EndTurn | NoTurn): void {
  if (typeof turn !== 'string') ctx.afterAnswer(turn);
}

async function billAnswer(
  { chat, billing, upstream, form }: WholeCall,
  answer: WholeAnswer | null,
): Promise<Reply> {
  const { upstreamRequestId, tried } = upstream;
  if (!answer) throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  const { reported, billableText, body } = answer;
  const usage = readChatUsage(reported, tokensPlausibleMax(chat));
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: billableText() };
  const outcome = { status: 'completed', consumption, error: null, upstreamRequestId, tried } as const;
  return billing.finishWith(outcome, (charge) =>
    replyWith(body(form.presentUsage(usage && reported, charge))),
  );
}

function readAnswer(
  bytes: Buffer,
  form: WholeForm,
  { readLongAnswer }: ChatServices,
): Promise<WholeAnswer | null> | WholeAnswer | null {
  return bytes.length <= SHORT_BYTES_MAX ? readShort(bytes, form) : readLongAnswer(bytes, form.source);
}

function readShort(bytes: Buffer, form: WholeForm): WholeAnswer | null {
  const answer = parseAnswer(bytes, form);
  return (
    answer && {
      reported: form.usageOf(answer),
      billableText: () => form.billableTextOf(answer),
      body: (usage) => form.present(answer, usage),
    }
  );
}

function replyWith(body: object | string): Reply {
  if (typeof body === 'object') return { status: 200, body };
  return { status: 200, body, headers: { 'content-type': 'application/json; charset=utf-8' } };
}

/**
 * Collects a body; null when it is longer than an answer may be. The rest of a long one stays unread until
 * its turn comes. With listeners, because an iterator costs more than the body.
 */
function collectBody({ body }: UpstreamAnswer, takeTurn: () => Promise<void>): Promise<Buffer | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | null>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    const isBecomingLong = bytes <= SHORT_BYTES_MAX && bytes + chunk.length > SHORT_BYTES_MAX;
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) return void body.destroy();
    chunks.push(chunk);
    if (!isBecomingLong) return;
    body.pause();
    void takeTurn().then(() => body.resume());
  });
  if (body.errored) reject(body.errored); // it broke off with its headers, and its events are over
  body.once('error', reject);
  body.once('close', () => resolve(bytes > ANSWER_BYTES_MAX ? null : Buffer.concat(chunks)));
  return promise;
}
