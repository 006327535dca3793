// A whole answer: read to its end, billed, and passed on with what it cost.
import { toUpstreamFailure, UpstreamFailure, type UpstreamAnswer } from '../../providers/chat/chat.ts';
import { readChatUsage, outputTextOf } from '../../providers/chat/usage.ts';
import type { Reply } from '../context.ts';
import type { ChatBilling, Consumption } from './chat-billing.ts';
import { usageLimits, type PricedChat } from './read-chat.ts';
import { presentUsage } from './views.ts';

const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/** Throws an UpstreamFailure when there is no answer: then nothing was delivered. */
export async function answerWhole(chat: PricedChat, bill: ChatBilling, open: UpstreamAnswer): Promise<Reply> {
  const answer = await readAnswer(open);
  const usage = readChatUsage(answer['usage'], usageLimits(chat));
  const consumption: Consumption = usage
    ? { kind: 'reported', usage }
    : { kind: 'counted', text: outputTextOf(answer) };
  const charged = await bill.finish({
    status: 'completed',
    consumption,
    error: null,
    upstreamRequestId: open.upstreamRequestId,
    tried: open.tried,
  });
  return { status: 200, body: { ...answer, usage: presentUsage(usage && answer['usage'], charged) } };
}

async function readAnswer(open: UpstreamAnswer): Promise<Record<string, unknown>> {
  const { body, upstreamRequestId } = open;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw toUpstreamFailure(error, open);
  }
  const answer = bytes > ANSWER_BYTES_MAX ? null : parseObject(Buffer.concat(chunks).toString('utf8'));
  if (!answer || !Array.isArray(answer['choices']))
    throw new UpstreamFailure('invalid_response', 'unknown', { upstreamRequestId });
  return answer;
}

/** The parser's message would quote the body, so it is not kept. */
function parseObject(text: string): Record<string, unknown> | null {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? Object.fromEntries(Object.entries(json)) : null;
  } catch {
    return null;
  }
}
