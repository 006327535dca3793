// Descriptions of the chat routes.
import type { ErrorCode } from '../../../domain/errors.ts';
import { CHAT_BODY } from '../../chat/request/read-chat.ts';
import { RESPONSES_BODY } from '../../responses/responses-body.ts';
import { USAGE_QUERY } from '../../console/usage.ts';
import type { RouteDescription } from '../route-description.ts';
import { pageOf } from '../../shapes/basics.ts';
import { CHAT_CALL, CHAT_COMPLETION, RESPONSE } from '../../shapes/chat.ts';

const question = { model: 'gpt-6-luna', messages: [{ role: 'user', content: 'Say hello.' }] };

/** Errors of a call of a text model. */
const CHAT_REFUSALS = [
  'model_not_found',
  'model_not_supported',
  'model_not_allowed',
  'prompt_too_long',
  'url_not_allowed',
  'invalid_image',
  'concurrency_limited',
  'stream_not_allowed',
  'insufficient_credits',
  'key_quota_exceeded',
  'daily_budget_exceeded',
  'content_rejected',
  'upstream_rejected',
  'conflicting_params',
  'upstream_error',
  'upstream_invalid_response',
  'upstream_rate_limited',
  'upstream_timeout',
] as const satisfies ErrorCode[];

export const CHAT_DESCRIPTIONS = {
  'POST /v1/chat/completions': {
    id: 'completeChat',
    tag: 'Chat',
    summary: 'Answer a conversation',
    description:
      'OpenAI’s request and answer; fields that are not named here are passed on. The most the call can cost is set aside before it begins, what was used is charged at its end, however it ends. A stream ends with a chunk that holds `usage`, then `data: [DONE]`; one that breaks off ends with a line that holds `error`.',
    body: {
      schema: CHAT_BODY,
      examples: { 'A question': question, 'As a stream': { ...question, stream: true } },
    },
    responses: {
      200: {
        description: 'The answer, or with `stream: true` its chunks as server-sent events.',
        shape: CHAT_COMPLETION,
        media: { 'text/event-stream': 'OpenAI’s chunks: lines of `data: {…}`, comments in between.' },
      },
    },
    refusals: CHAT_REFUSALS,
  },
  'POST /v1/responses': {
    id: 'createResponse',
    tag: 'Chat',
    summary: 'Answer a conversation, as OpenAI’s Responses API does',
    description:
      'OpenAI’s Responses API without a memory, on the same bill as chat completions. Nothing is stored: send the whole conversation, and reasoning with its `encrypted_content`. Providers that know chat completions only are spoken to in those; what they have no word for is refused by name. A stream ends with `response.completed` or `response.incomplete`, which hold `usage`; one that breaks off ends with `error` and `response.failed`.',
    body: {
      schema: RESPONSES_BODY,
      examples: {
        'A question': { model: 'gpt-6-luna', input: 'Say hello.' },
        'As a stream': { model: 'gpt-6-luna', input: 'Say hello.', stream: true },
      },
    },
    responses: {
      200: {
        description: 'The response, or with `stream: true` its events as server-sent events.',
        shape: RESPONSE,
        media: {
          'text/event-stream': 'OpenAI’s events: lines of `event:` and `data:`, comments in between.',
        },
      },
    },
    refusals: CHAT_REFUSALS,
  },
  'GET /api/usage': {
    id: 'listChatCalls',
    tag: 'Chat',
    summary: 'List your chat calls',
    description: 'Every call that reached a provider, with its tokens, cost and outcome.',
    query: USAGE_QUERY,
    responses: { 200: { description: 'Calls, newest first.', shape: pageOf(CHAT_CALL) } },
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;
