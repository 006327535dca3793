// Reads from chat answers the reported usage, checked for plausibility, and the text that was delivered.
import { listOf, membersOf, numberOf, textOf, type Members } from '../http/json-fields.ts';

export interface ChatUsage {
  promptTokens: number;
  completionTokens: number;
  /** Part of `promptTokens`. */
  cachedTokens: number;
  /** Part of `promptTokens`, beside `cachedTokens`. */
  cacheWriteTokens: number;
}

/** Highest plausible figures of one call. */
export interface UsageLimits {
  promptTokensMax: number;
  completionTokensMax: number;
}

/**
 * Reads the usage; null where it is absent or implausible: negative, not a whole number, beyond the limits.
 */
export function readChatUsage(usage: unknown, limits: UsageLimits): ChatUsage | null {
  const members = membersOf(usage);
  const promptTokens = countOf(members['prompt_tokens'], limits.promptTokensMax);
  const completionTokens = countOf(members['completion_tokens'], limits.completionTokensMax);
  if (promptTokens === null || completionTokens === null) return null;
  const details = membersOf(members['prompt_tokens_details']);
  // Some compatible services report cached tokens under this name.
  const cached = details['cached_tokens'] ?? members['prompt_cache_hit_tokens'];
  const cachedTokens = countOf(cached, promptTokens) ?? 0;
  const cacheWriteTokens = countOf(details['cache_write_tokens'], promptTokens - cachedTokens) ?? 0;
  return { promptTokens, completionTokens, cachedTokens, cacheWriteTokens };
}

/** Text of all choices in an answer or a chunk: content, reasoning, refusal and tool calls. */
export function outputTextOf(json: unknown): string {
  return listOf(membersOf(json)['choices'])
    .map((choice) => textIn(membersOf(membersOf(choice)['delta'] ?? membersOf(choice)['message'])))
    .join('');
}

function textIn(message: Members): string {
  const calls = listOf(message['tool_calls']).map((call) => {
    const { name, arguments: parameters } = membersOf(membersOf(call)['function']);
    return `${textOf(name) ?? ''}${typeof parameters === 'string' ? parameters : ''}`;
  });
  const parts = [message['content'], message['reasoning_content'], message['refusal']];
  return [...parts.map((part) => (typeof part === 'string' ? part : '')), ...calls].join('');
}

function countOf(value: unknown, max: number): number | null {
  const count = numberOf(value);
  return count !== null && Number.isInteger(count) && count >= 0 && count <= max ? count : null;
}
