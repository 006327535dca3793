// Reads from chat answers the reported usage, checked for plausibility, and the text that was delivered.
import { listOf, membersOf, numberOf, textOf, type Members } from '../http/json-fields.ts';

export interface ChatUsage {
  promptTokens: number;
  /** Includes reasoning, also that of vendors that report it beside their answer. */
  completionTokens: number;
  /** Part of `promptTokens`. */
  cachedTokens: number;
  /** Part of `promptTokens`, beside `cachedTokens`. */
  cacheWriteTokens: number;
}

/** More tokens than any vendor's context holds (10 million, Llama 4 Scout): a larger figure is absurd. */
export const TOKENS_PLAUSIBLE_MAX = 10_000_000;

/**
 * Reads the usage; null where it is absent or absurd: negative, not a whole number, beyond `tokensMax`. More
 * tokens than were ordered are no absurdity: hidden reasoning may exceed the limit of an answer. The charge
 * is cut to the reservation where it is computed (`computeCharge`), and the rest is the operator's loss.
 */
export function readChatUsage(usage: unknown, tokensMax: number = TOKENS_PLAUSIBLE_MAX): ChatUsage | null {
  const members = membersOf(usage);
  const promptTokens = countOf(members['prompt_tokens'], tokensMax);
  const answerTokens = countOf(members['completion_tokens'], tokensMax);
  if (promptTokens === null || answerTokens === null) return null;
  const details = membersOf(members['prompt_tokens_details']);
  // Some compatible services report cached tokens under this name.
  const cached = details['cached_tokens'] ?? members['prompt_cache_hit_tokens'];
  const cachedTokens = countOf(cached, promptTokens) ?? 0;
  const cacheWriteTokens = countOf(details['cache_write_tokens'], promptTokens - cachedTokens) ?? 0;
  // xAI counts reasoning in the total alone.
  const totalTokens = countOf(members['total_tokens'], 2 * tokensMax) ?? 0;
  const completionTokens = Math.max(answerTokens, totalTokens - promptTokens);
  return { promptTokens, completionTokens, cachedTokens, cacheWriteTokens };
}

/**
 * Text of all choices in an answer, as its reader is shown it: content, refusal and tool calls. Reasoning
 * stands for it only where there is nothing else.
 */
export function outputTextOf(json: unknown): string {
  return listOf(membersOf(json)['choices'])
    .map((choice) => {
      const message = membersOf(membersOf(choice)['message']);
      return textIn(message) || contentIn(message['reasoning_content']);
    })
    .join('');
}

/**
 * All text that the upstream sent in an answer or a chunk, for counting: every string in the messages, under
 * whatever name, since vendors bill what they generate and invent names for it (`function_call`, calls of
 * custom tools, `reasoning`).
 */
export function billableTextOf(json: unknown): string {
  return listOf(membersOf(json)['choices'])
    .map((choice) => {
      const texts: string[] = [];
      collectTexts(membersOf(choice)['delta'] ?? membersOf(choice)['message'], texts);
      return texts.join('');
    })
    .join('');
}

/** Members whose strings are the protocol's, not the model's. */
const NOT_GENERATED = new Set(['role', 'type', 'id', 'call_id', 'format']);
/** Some vendors send the same reasoning twice, as a text and within this list. */
const REASONING_AGAIN = 'reasoning_details';
/** Deeper members of a message are not looked at. */
const DEPTH_MAX = 16;

function collectTexts(value: unknown, texts: string[], depth = 0): void {
  if (typeof value === 'string') texts.push(value);
  if (typeof value !== 'object' || value === null || depth > DEPTH_MAX) return;
  for (const [name, member] of Object.entries(value)) {
    if (NOT_GENERATED.has(name)) continue;
    if (name === REASONING_AGAIN && typeof Reflect.get(value, 'reasoning') === 'string') continue;
    collectTexts(member, texts, depth + 1);
  }
}

function textIn(message: Members): string {
  const calls = listOf(message['tool_calls']).map((call) => {
    const { name, arguments: parameters } = membersOf(membersOf(call)['function']);
    return `${textOf(name) ?? ''}${typeof parameters === 'string' ? parameters : ''}`;
  });
  return [contentIn(message['content']), contentIn(message['refusal']), ...calls].join('');
}

/** Content is a text, or with some services a list of parts. */
function contentIn(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => membersOf(part)['text'])
    .filter((text) => typeof text === 'string')
    .join('');
}

function countOf(value: unknown, max: number): number | null {
  const count = numberOf(value);
  return count !== null && Number.isInteger(count) && count >= 0 && count <= max ? count : null;
}
