// Checks a Responses request as OpenAI does, and reads it as the chat that it amounts to.

import { type Fields, isFields, objectsIn } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { type ChatOrder, checkChatOrder } from './chat-order.ts';
import { isAbsent, oneOf, refuseAbsent, refuseField, refuseType, requireText } from './fields.ts';

export interface ResponsesOrder {
  readonly chat: ChatOrder;
  /** Whether reasoning is to be answered in its encrypted form. */
  readonly encryptsReasoning: boolean;
}

const ITEMS = [
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'reasoning',
  'item_reference',
] as const;
const ROLES = ['user', 'assistant', 'system', 'developer'] as const;
const INCLUDES = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
] as const;
const ENCRYPTED = /^gAAAA/;

/** Text of the last user message, which holds the directives; empty without one. Refuses nothing. */
export function readLastInputText({ input }: Fields): string {
  if (typeof input === 'string') return input;
  const content = objectsIn(input).findLast((item) => item['role'] === 'user')?.['content'];
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map(({ text }) => text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

export function checkResponsesOrder(request: SandboxRequest, fields: Fields): ResponsesOrder {
  requireText(request, 'model', fields['model']);
  if (!isAbsent(fields['previous_response_id'])) {
    const id = requireText(request, 'previous_response_id', fields['previous_response_id']);
    const message = `Previous response with id '${id}' not found.`;
    refuseField(request, 'previous_response_id', message, 'previous_response_not_found');
  }
  for (const field of ['messages', 'max_tokens', 'max_completion_tokens', 'response_format'])
    if (field in fields) refuseField(request, field, `Unknown parameter: '${field}'.`, 'unknown_parameter');
  const include = Array.isArray(fields['include']) ? fields['include'] : [];
  for (const [index, value] of include.entries()) oneOf(request, `include[${index}]`, value, INCLUDES);
  const instructions = isAbsent(fields['instructions'])
    ? []
    : [{ role: 'system', content: fields['instructions'] }];
  const { text, reasoning } = fields;
  const chat = checkChatOrder(request, {
    ...fields,
    n: null,
    messages: [...instructions, ...checkInput(request, fields['input'])],
    max_completion_tokens: fields['max_output_tokens'],
    tools: readTools(fields['tools']),
    tool_choice: readChoice(fields['tool_choice']),
    response_format: readFormat(isFields(text) ? text['format'] : null),
    reasoning_effort: isFields(reasoning) ? reasoning['effort'] : null,
  });
  return { chat, encryptsReasoning: include.includes('reasoning.encrypted_content') };
}

/** The items as messages of a chat. */
function checkInput(request: SandboxRequest, input: unknown): object[] {
  if (isAbsent(input)) refuseAbsent(request, 'input');
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input)) refuseType(request, 'input', 'a string or an array of objects', input);
  const called = new Set(objectsIn(input).flatMap(({ type, call_id: id }) => (isCall(type) ? [id] : [])));
  return input.flatMap((item: unknown, index) => {
    const field = `input[${index}]`;
    if (!isFields(item)) refuseType(request, field, 'an object', item);
    return checkItem(request, field, item, called);
  });
}

function checkItem(
  request: SandboxRequest,
  field: string,
  item: Fields,
  called: ReadonlySet<unknown>,
): object[] {
  const type = oneOf(request, `${field}.type`, item['type'] ?? 'message', ITEMS);
  if (type === 'message') return [checkMessage(request, field, item)];
  if (type === 'item_reference') {
    const message = `Item with id '${String(item['id'])}' not found. Items are not persisted when \`store\` is set to false.`;
    refuseField(request, 'input', message);
  }
  if (type === 'reasoning') {
    const encrypted = item['encrypted_content'];
    if (!isAbsent(encrypted) && !(typeof encrypted === 'string' && ENCRYPTED.test(encrypted))) {
      const message = 'The encrypted content could not be verified.';
      refuseField(request, field, message, 'invalid_encrypted_content');
    }
    return [];
  }
  const id = requireText(request, `${field}.call_id`, item['call_id']);
  if (type === 'function_call' || type === 'custom_tool_call') {
    requireText(request, `${field}.name`, item['name']);
    return [];
  }
  if (!called.has(id)) {
    const message = `No tool call found for function call output with call_id ${id}.`;
    refuseField(request, 'input', message);
  }
  const { output } = item;
  return [{ role: 'tool', tool_call_id: id, content: typeof output === 'string' ? output : partsOf(output) }];
}

function checkMessage(request: SandboxRequest, field: string, item: Fields): object {
  const role = oneOf(request, `${field}.role`, item['role'], ROLES) ?? refuseAbsent(request, `${field}.role`);
  const { content } = item;
  if (typeof content === 'string') return { role, content };
  if (!Array.isArray(content)) refuseType(request, `${field}.content`, 'a string or an array', content);
  const types =
    role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
  for (const [index, part] of objectsIn(content).entries())
    oneOf(request, `${field}.content[${index}].type`, part['type'], types);
  return { role, content: partsOf(content) };
}

function partsOf(content: unknown): object[] {
  return objectsIn(content).map(({ type, text, refusal, image_url: url, detail }) => {
    if (type === 'input_image')
      return { type: 'image_url', image_url: { url, ...(!isAbsent(detail) && { detail }) } };
    return type === 'refusal' ? { type, refusal } : { type: 'text', text };
  });
}

function readTools(tools: unknown): unknown {
  if (!Array.isArray(tools)) return tools;
  if (tools.length === 0) return null;
  return objectsIn(tools).map(({ type, ...described }) =>
    type === 'function' ? { type, function: described } : { type, custom: described },
  );
}

function readChoice(choice: unknown): unknown {
  if (!isFields(choice)) return choice;
  const { type, name } = choice;
  return type === 'function' ? { type, function: { name } } : { type };
}

function readFormat(format: unknown): unknown {
  if (!isFields(format)) return null;
  const { type, ...described } = format;
  return type === 'json_schema' ? { type, json_schema: described } : { type };
}

function isCall(type: unknown): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}
