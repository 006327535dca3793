// Parses the JSON of an answer that is not streamed.
import { isTooDeep } from '../../domain/json.ts';
import type { WholeForm } from './answer-form.ts';

/**
 * The answer; null for anything else. The parser's error is dropped, because its message quotes the body.
 */
export function parseAnswer(
  bytes: Buffer,
  form: Pick<WholeForm, 'isAnswer'>,
): Record<string, unknown> | null {
  const answer = parseObject(bytes.toString('utf8'));
  return answer && !isTooDeep(answer) && form.isAnswer(answer) ? answer : null;
}

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
