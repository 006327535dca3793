// Translates the items of a Responses request into the messages of a chat request.
import { GatewayError } from '../../domain/errors.ts';
import { notOffered } from '../chat/request/chat-messages.ts';
import { isMembers, type Members } from './members.ts';

export interface ReadItems {
  messages: object[];
  /** The path of each picture in the request, in the order of the messages. */
  imageParams: string[];
  /** The first item that messages cannot say; null when they say them all. Its text counts all the same. */
  untranslatable: string | null;
}

interface AssistantMessage {
  role: 'assistant';
  content: string | object[] | null;
  tool_calls?: object[];
}

const ROLES: readonly unknown[] = ['user', 'assistant', 'system', 'developer'];
const TEXT_PARTS: readonly unknown[] = ['input_text', 'output_text', 'text'];

/** Throws a GatewayError that names the item which is not offered. */
export function readItems(request: {
  instructions?: string | null | undefined;
  input: string | Members[];
}): ReadItems {
  const found: ReadItems = { messages: [], imageParams: [], untranslatable: null };
  const { instructions, input } = request;
  if (instructions) found.messages.push({ role: 'system', content: instructions });
  if (typeof input === 'string') found.messages.push({ role: 'user', content: input });
  else for (const [index, item] of input.entries()) readItem(found, item, `input[${index}]`);
  return found;
}

function readItem(found: ReadItems, item: Members, path: string): void {
  const type = item['type'] ?? 'message';
  switch (type) {
    case 'message':
      found.messages.push(readMessage(found, item, path));
      return;
    case 'function_call': {
      const called = { name: textOf(item, 'name', path), arguments: textOf(item, 'arguments', path) };
      return addCall(found, { id: textOf(item, 'call_id', path), type: 'function', function: called });
    }
    case 'custom_tool_call': {
      const called = { name: textOf(item, 'name', path), input: textOf(item, 'input', path) };
      return addCall(found, { id: textOf(item, 'call_id', path), type: 'custom', custom: called });
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return addOutput(found, item, path);
    case 'reasoning':
      return addReasoning(found, item, path);
    default:
      throw notOffered(`${path}.type`, typeof type === 'string' ? type : undefined);
  }
}

function readMessage(found: ReadItems, item: Members, path: string): object {
  const { role, content } = item;
  if (!ROLES.includes(role)) throw invalid(`${path}.role`, 'must be user, assistant, system or developer');
  if (typeof content === 'string') return { role, content };
  if (!Array.isArray(content)) throw invalid(`${path}.content`, 'must be a text or a list of parts');
  const parts = content.map((part: unknown, index) => readPart(found, part, `${path}.content[${index}]`));
  return { role, content: joinTexts(parts) };
}

/** Many compatible services read a text only, so parts that are all texts become one where there is one. */
function joinTexts(parts: object[]): string | object[] {
  const [first] = parts;
  return parts.length === 1 && first && 'text' in first && typeof first.text === 'string'
    ? first.text
    : parts;
}

function readPart(found: ReadItems, part: unknown, path: string): object {
  if (!isMembers(part)) throw invalid(path, 'must be an object');
  const { type } = part;
  if (TEXT_PARTS.includes(type)) return { type: 'text', text: textOf(part, 'text', path) };
  if (type === 'refusal') return { type: 'refusal', refusal: textOf(part, 'refusal', path) };
  if (type !== 'input_image') throw notOffered(`${path}.type`, typeof type === 'string' ? type : undefined);
  if (typeof part['file_id'] === 'string') throw notOffered(`${path}.file_id`);
  const url = textOf(part, 'image_url', path);
  const { detail } = part;
  found.imageParams.push(`${path}.image_url`);
  return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } };
}

/** Calls of one turn belong to one message, together with what the assistant said before them. */
function addCall({ messages }: ReadItems, call: object): void {
  const last = messages.at(-1);
  if (last && isAssistant(last)) last.tool_calls = [...(last.tool_calls ?? []), call];
  else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
}

/** The output of a tool. Pictures in it have no place in a chat's message of a tool. */
function addOutput(found: ReadItems, item: Members, path: string): void {
  const { output } = item;
  const id = textOf(item, 'call_id', path);
  if (typeof output === 'string') {
    found.messages.push({ role: 'tool', tool_call_id: id, content: output });
    return;
  }
  if (!Array.isArray(output)) throw invalid(`${path}.output`, 'must be a text or a list of parts');
  const pictures = found.imageParams.length;
  const parts = output.map((part: unknown, index) => readPart(found, part, `${path}.output[${index}]`));
  if (found.imageParams.length > pictures) {
    found.untranslatable ??= `${path}.output`;
    found.messages.push({ role: 'user', content: parts });
  } else found.messages.push({ role: 'tool', tool_call_id: id, content: joinTexts(parts) });
}

/**
 * Reasoning of an earlier turn. What is encrypted can only be read by the vendor that wrote it, by Responses;
 * its length stands for its tokens. Other reasoning is left out: chat completions are not sent it again.
 */
function addReasoning(found: ReadItems, item: Members, path: string): void {
  const { encrypted_content: encrypted } = item;
  if (typeof encrypted !== 'string' || encrypted === '') return;
  found.untranslatable ??= `${path}.encrypted_content`;
  found.messages.push({ role: 'assistant', content: encrypted });
}

function textOf(item: Members, name: string, path: string): string {
  const value = item[name];
  if (typeof value === 'string') return value;
  const param = `${path}.${name}`;
  if (value === undefined || value === null)
    throw new GatewayError('missing_field', { param, message: `${param} is required.` });
  throw invalid(param, 'must be a text');
}

function invalid(param: string, rule: string): GatewayError {
  return new GatewayError('invalid_value', { param, message: `${param}: ${rule}.` });
}

function isAssistant(message: object): message is AssistantMessage {
  return Reflect.get(message, 'role') === 'assistant';
}
