// Reads what a task was asked for out of its kept request.
import type { Task } from './types.ts';

/** The prompt, or the last message of a conversation; null when there is none. */
export function promptOf({ requestPayload }: Pick<Task, 'requestPayload'>): string | null {
  const { prompt, messages } = requestPayload;
  if (typeof prompt === 'string') return prompt;
  if (!Array.isArray(messages)) return null;
  const last: unknown = messages.at(-1);
  const content = typeof last === 'object' && last !== null && 'content' in last ? last.content : null;
  return typeof content === 'string' ? content : JSON.stringify(content);
}
