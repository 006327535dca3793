// Reads an answer that is not streamed, bills it, and passes it on with its cost.
import { toUpstreamFailure, UpstreamFailure, type UpstreamAnswer } from '../../providers/chat/chat.ts';
import { isTooDeep } from '../../domain/json.ts';
import { readChatUsage } from '../../providers/chat/usage.ts';
import type { Reply } from '../context.ts';
import type { WholeForm } from './answer-form.ts';
import type { ChatBilling } from './chat-billing.ts';
import type { Consumption } from './chat-cost.ts';
import { tokensPlausibleMax, type PricedChat } from './request/read-chat.ts';

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Reads and bills the answer. Throws an UpstreamFailure when there is no readable answer: then nothing was
 * delivered, and nothing is billed.
 */
export async function answerWhole(
  chat: PricedChat,
  billing: ChatBilling,
  upstream: UpstreamAnswer,
  form: WholeForm,
): Promise<Reply> {
  const answer = await readAnswer(upstream, form);
  const reported = form.usageOf(answer);
  const usage = readChatUsage(reported, tokensPlausibleMax(chat));
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: form.billableTextOf(answer) };
  const { upstreamRequestId, tried } = upstream;
  const outcome = { status: 'completed', consumption, error: null, upstreamRequestId, tried } as const;
  return billing.finishWith(outcome, (charge) => {
    return { status: 200, body: form.present(answer, usage && reported, charge) };
  });
}

async function readAnswer(upstream: UpstreamAnswer, form: WholeForm): Promise<Record<string, unknown>> {
  const { upstreamRequestId } = upstream;
  const bytes = await collectBody(upstream, ANSWER_BYTES_MAX).catch((error: unknown) => {
    throw toUpstreamFailure(error, upstream);
  });
  const answer = bytes && parseObject(bytes.toString('utf8'));
  if (!answer || isTooDeep(answer) || !form.isAnswer(answer))
    throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return answer;
}

/** Collects a body; null when it is longer. With listeners, because an iterator costs more than the body. */
function collectBody({ body }: UpstreamAnswer, bytesMax: number): Promise<Buffer | null> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | null>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
    else body.destroy();
  });
  if (body.errored) reject(body.errored); // it broke off with its headers, and its events are over
  body.once('error', reject);
  body.once('close', () => resolve(bytes > bytesMax ? null : Buffer.concat(chunks)));
  return promise;
}

/**
 * Parses a JSON object; null for any other text. The parser's error is dropped, because its message quotes
 * the body.
 */
function parseObject(text: string): Record<string, unknown> | null {
  try {
    const json: unknown = JSON.parse(text);
    return isRecord(json) ? json : null;
  } catch {
    return null;
  }
}

function isRecord(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null;
}
