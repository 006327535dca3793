// Answers of a vendor of chat completions, with the places of their texts: known ones, and some that no
// vendor has.
import type { FieldPath } from './http/string-fields.ts';

export const ANSWER = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', system_fingerprint: 'fp' },
  choices: [
    {
      index: 0,
      message: {
        ...{ role: 'assistant', content: 'Hello.', refusal: null },
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
/** The same where the vendor is asked by Responses. */
export const RESPONSE_ANSWER = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed' },
  output: [
    { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
  ],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
};
const MESSAGE_FIELDS: readonly FieldPath[] = [
  ...[['role'], ['content'], ['refusal'], ['reasoning_content'], ['any']],
  ...[
    ['tool_calls', 0, 'id'],
    ['tool_calls', 0, 'function', 'name'],
    ['tool_calls', 0, 'function', 'arguments'],
  ],
];
const TOP_FIELDS: readonly FieldPath[] = [
  ['id'],
  ['object'],
  ['model'],
  ['system_fingerprint'],
  ['any'],
  ['service_tier'],
];
export const ANSWER_FIELDS: readonly FieldPath[] = [
  ...TOP_FIELDS,
  ...MESSAGE_FIELDS.map((path) => ['choices', 0, 'message', ...path]),
  ...[
    ['choices', 0, 'finish_reason'],
    ['usage', 'any'],
    ['usage', 'prompt_tokens'],
    ['choices', 0, 'any'],
  ],
];
export const CHUNK = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' }, finish_reason: null }],
};
export const STREAM_FIELDS: readonly FieldPath[] = [
  ...TOP_FIELDS,
  ...MESSAGE_FIELDS.map((path) => ['choices', 0, 'delta', ...path]),
  ...[['choices', 0, 'finish_reason'], ['error'], ['error', 'message'], ['usage', 'any']],
];
export const REFUSAL = {
  error: { message: 'Invalid value.', type: 'invalid_request_error', code: null, param: null },
};
export const REFUSAL_FIELDS: readonly FieldPath[] = [
  ...[
    ['error', 'message'],
    ['error', 'type'],
    ['error', 'code'],
    ['error', 'param'],
    ['error', 'any'],
    ['error'],
  ],
  ...[['message'], ['code'], ['any']],
];
