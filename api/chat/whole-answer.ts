// Reads an answer that is not streamed, bills it, and passes it on with its cost.
import { toUpstreamFailure, UpstreamFailure, type UpstreamAnswer } from '../../providers/chat/chat.ts';
import { billableTextOf, readChatUsage } from '../../providers/chat/usage.ts';
import type { Reply } from '../context.ts';
import type { ChatBilling } from './chat-billing.ts';
import type { Consumption } from './chat-cost.ts';
import { tokensPlausibleMax, type PricedChat } from './read-chat.ts';
import { presentUsage } from './views.ts';

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Reads and bills the answer. Throws an UpstreamFailure when there is no readable answer: then nothing was
 * delivered, and nothing is billed.
 */
export async function answerWhole(
  chat: PricedChat,
  billing: ChatBilling,
  upstream: UpstreamAnswer,
): Promise<Reply> {
  const answer = await readAnswer(upstream);
  const usage = readChatUsage(answer['usage'], tokensPlausibleMax(chat));
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: billableTextOf(answer) };
  const charge = await billing.finish({
    status: 'completed',
    consumption,
    error: null,
    upstreamRequestId: upstream.upstreamRequestId,
    tried: upstream.tried,
  });
  answer['usage'] = presentUsage(usage && answer['usage'], charge);
  return { status: 200, body: answer };
}

async function readAnswer(upstream: UpstreamAnswer): Promise<Record<string, unknown>> {
  const { body, upstreamRequestId } = upstream;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw toUpstreamFailure(error, upstream);
  }
  const answer = bytes > ANSWER_BYTES_MAX ? null : parseObject(Buffer.concat(chunks).toString('utf8'));
  if (!answer || !Array.isArray(answer['choices']))
    throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return answer;
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
