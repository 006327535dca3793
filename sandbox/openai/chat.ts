/** OpenAI chat completions, whole or streamed; xAI speaks the same language but refuses in its own voice. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, json } from '../answers.ts';
import type { SandboxRequest, Dialect, Voice } from '../dialect.ts';
import type { Orders } from '../directives.ts';
import { beginChat, confirmSubmission } from '../faults.ts';
import { bearerKey, readJsonObject, requireKey } from '../requests.ts';
import { grokVoice } from '../grok/error-format.ts';
import { readLastUserText } from './chat-messages.ts';
import { checkChatOrder, checkModel, MODELS } from './chat-order.ts';
import { composeReply, type Reply, wholeText } from './chat-reply.ts';
import { callId, emptyStream, streamReply, SYSTEM_FINGERPRINT } from './chat-stream.ts';
import { openaiVoice } from './error-format.ts';

export const openaiChat = chatDialect('openai', '/openai', openaiVoice);
export const xaiChat = chatDialect('xai', '/xai', grokVoice);

const MODEL_CREATED_AT = 1_782_864_000;

function chatDialect(vendor: string, prefix: string, voice: Voice): Dialect {
  return {
    vendor,
    prefix,
    voice,
    routes: [
      { method: 'POST', path: '/v1/chat/completions', operation: 'chat', play: complete },
      { method: 'GET', path: '/v1/models', operation: 'other', play: listModels },
      { method: 'GET', path: '/v1/models/{model}', operation: 'other', play: showModel },
    ],
  };
}

/** `seconds` passes before any answer begins, streamed ones included. */
async function complete(request: SandboxRequest): Promise<Answer> {
  const fields = readJsonObject(request);
  const prompt = readLastUserText(fields['messages']);
  request.entry.prompt = prompt;
  requireKey(request, bearerKey(request));
  const submission = beginChat(request, prompt);
  const order = checkChatOrder(request, fields);
  const { orders } = submission;
  const reply = composeReply(request, orders, order);
  request.entry.jobId = reply.id;
  const seconds = orders.number('seconds') ?? 0;
  if (seconds > 0) await sleep(seconds * 1000, undefined, { signal: request.closed });
  if (['fail', 'expire', 'cancelled'].includes(orders.choose('outcome'))) return fail(request, orders);
  const headers = headersOf(request, reply);
  if (order.stream) {
    const error = bodyOf(fail(request, orders));
    const streamed = streamReply({ call: request, orders, reply, headers, error });
    return confirmSubmission(submission, streamed, emptyStream(headers));
  }
  if (orders.choose('outcome') === 'stuck') return { kind: 'hang' };
  const { created } = reply;
  const withoutId = json(200, { object: 'chat.completion', created, model: order.model }, headers);
  return confirmSubmission(submission, json(200, wholeReply(reply), headers), withoutId);
}

function wholeReply(reply: Reply): object {
  const { id, created, order, usage } = reply;
  return {
    id,
    object: 'chat.completion',
    created,
    model: order.model,
    choices: Array.from({ length: reply.choices }, (_, index) => ({
      index,
      message: messageOf(reply, index),
      logprobs: null,
      finish_reason: reply.finishReason,
    })),
    usage,
    service_tier: order.serviceTier,
    system_fingerprint: SYSTEM_FINGERPRINT,
  };
}

function messageOf(reply: Reply, index: number): object {
  const { form } = reply.order;
  const text = wholeText(reply, index);
  const message = { role: 'assistant', refusal: null, annotations: [] };
  if (form.kind !== 'call') return { ...message, content: text };
  const called = { name: form.name, arguments: text };
  return {
    ...message,
    content: null,
    tool_calls: [{ id: callId(reply, index), type: 'function', function: called }],
  };
}

function fail(request: SandboxRequest, orders: Orders): Answer {
  const text = orders.choose('text');
  switch (orders.choose('reason')) {
    case 'internal':
      return request.voice.refuse(500, { text });
    case 'invalid':
      return request.voice.refuse(400, { text, code: 'invalid_value', field: 'messages' });
    case 'quota':
      return request.voice.refuse(429, { text, code: 'insufficient_quota' });
    case 'concurrency':
      return request.voice.refuse(429, { text });
    case 'moderation':
      return request.voice.refuse(400, { text, code: 'content_policy_violation' });
  }
}

function bodyOf(answer: Answer): string {
  return 'bytes' in answer ? answer.bytes.toString() : '';
}

/** Rate limits are counted by nobody here: the numbers are those of an account that is idle. */
function headersOf(request: SandboxRequest, { order }: Reply): Record<string, string> {
  const limits = {
    'x-ratelimit-limit-requests': '10000',
    'x-ratelimit-limit-tokens': '2000000',
    'x-ratelimit-remaining-requests': '9999',
    'x-ratelimit-remaining-tokens': String(Math.max(0, 2_000_000 - order.promptTokens.text)),
  };
  if (request.vendor !== 'openai') return limits;
  return {
    ...limits,
    'x-ratelimit-reset-requests': '6ms',
    'x-ratelimit-reset-tokens': '1s',
    'openai-organization': 'sandbox',
    'openai-processing-ms': String(Date.now() - Date.parse(request.entry.at)),
    'openai-version': '2020-10-01',
  };
}

function listModels(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  return json(200, { object: 'list', data: MODELS.map((model) => modelObject(request, model)) });
}

function showModel(request: SandboxRequest): Answer {
  requireKey(request, bearerKey(request));
  return json(200, modelObject(request, checkModel(request, request.parameters['model'] ?? '')));
}

function modelObject(request: SandboxRequest, id: string): object {
  return { id, object: 'model', created: MODEL_CREATED_AT, owned_by: request.vendor };
}
