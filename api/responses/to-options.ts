// Translates tools, their choice and the form of the answer from Responses to chat completions.
import { GatewayError } from '../../domain/errors.ts';
import { notOffered } from '../chat/request/chat-messages.ts';
import { isMembers, type Members } from './members.ts';

interface Options {
  tools?: Members[] | null | undefined;
  tool_choice?: string | Members | null | undefined;
  text?: { format?: Members | null | undefined } | null | undefined;
}

/** Tools of other types were refused before. */
export function readTools({ tools }: Options): object[] | undefined {
  if (!tools || tools.length === 0) return undefined;
  return tools.map(({ type, ...described }) => {
    if (type === 'function') return { type, function: described };
    const { format } = described;
    return { type, custom: { ...described, ...(isMembers(format) && { format: readGrammar(format) }) } };
  });
}

export function readToolChoice({ tool_choice: choice, tools }: Options): string | object | undefined {
  if (choice === undefined || choice === null || !tools || tools.length === 0) return undefined;
  if (typeof choice === 'string') return choice;
  const { type, name, mode, tools: allowed } = choice;
  if (type === 'function' || type === 'custom') return { type, [type]: { name } };
  if (type !== 'allowed_tools') throw notOffered('tool_choice.type', String(type));
  const list = Array.isArray(allowed) ? allowed : [];
  return { type, allowed_tools: { mode, tools: list.map(readAllowed) } };
}

export function readFormat({ text }: Options): object | undefined {
  const format = text?.format;
  if (!format || format['type'] === 'text') return undefined;
  const { type, ...described } = format;
  if (type === 'json_object') return { type };
  if (type === 'json_schema') return { type, json_schema: described };
  const message = 'text.format.type must be text, json_object or json_schema.';
  throw new GatewayError('invalid_value', { param: 'text.format.type', message });
}

/** Chat completions put the grammar of a custom tool one level deeper. */
function readGrammar({ type, ...rest }: Members): object {
  return type === 'grammar' ? { type, grammar: rest } : { type, ...rest };
}

function readAllowed(tool: unknown): object {
  const { type, name } = isMembers(tool) ? tool : {};
  if (type === 'function' || type === 'custom') return { type, [type]: { name } };
  throw notOffered('tool_choice.tools');
}
