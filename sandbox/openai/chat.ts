// OpenAI's chat completions and responses, whole or streamed, for every vendor that offers these APIs.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, json } from '../answers.ts';
import type { ActiveDirectives } from '../directives.ts';
import { readJsonObject, requireBearerKey } from '../requests.ts';
import { beginChat, confirmSubmission, type Submission } from '../submissions.ts';
import type { SandboxRequest, VendorApi, ErrorFormat } from '../vendor-api.ts';
import { readLastUserText } from './chat-messages.ts';
import { type ChatOrder, checkChatOrder, checkModel, MODELS } from './chat-order.ts';
import { composeReply, type Reply, wholeText } from './chat-reply.ts';
import { callId, emptyStream, streamReply, type StreamPlan, SYSTEM_FINGERPRINT } from './chat-stream.ts';
import { checkResponsesOrder, readLastInputText } from './responses-order.ts';
import { responseOf, streamResponse } from './responses-reply.ts';
import { logprobsOf } from './log-probabilities.ts';

/** Unix seconds. */
const MODEL_CREATED_AT = 1_782_864_000;

export function chatApi(vendor: string, prefix: string, errorFormat: ErrorFormat): VendorApi {
  return {
    vendor,
    prefix,
    errorFormat,
    routes: [
      { method: 'POST', path: '/v1/chat/completions', operation: 'chat', handle: complete },
      { method: 'POST', path: '/v1/responses', operation: 'chat', handle: respond },
      { method: 'GET', path: '/v1/models', operation: 'other', handle: listModels },
      { method: 'GET', path: '/v1/models/{model}', operation: 'other', handle: showModel },
    ],
  };
}

/** The directive `seconds` delays the beginning of every answer, of a streamed one as well. */
async function complete(request: SandboxRequest): Promise<Answer> {
  const fields = readJsonObject(request);
  const submission = beginChat(request, readLastUserText(fields['messages']));
  const plan = planReply(request, submission.active, checkChatOrder(request, fields));
  const { reply, headers } = plan;
  const { created, order } = reply;
  const withoutId = order.stream
    ? emptyStream(headers)
    : json(200, { object: 'chat.completion', created, model: order.model }, headers);
  return answer(plan, submission, {
    stream: () => streamReply(plan),
    whole: () => json(200, wholeReply(reply), headers),
    withoutId,
  });
}

/** The Responses API: the same models, told in other words. */
async function respond(request: SandboxRequest): Promise<Answer> {
  const fields = readJsonObject(request);
  const submission = beginChat(request, readLastInputText(fields));
  const { chat, encryptsReasoning } = checkResponsesOrder(request, fields);
  const plan = { ...planReply(request, submission.active, chat), fields, encryptsReasoning };
  const { headers } = plan;
  const withoutId = chat.stream ? emptyStream(headers) : json(200, { object: 'response' }, headers);
  return answer(plan, submission, {
    stream: () => streamResponse(plan),
    whole: () => json(200, responseOf(plan), headers),
    withoutId,
  });
}

function planReply(request: SandboxRequest, active: ActiveDirectives, order: ChatOrder): StreamPlan {
  const reply = composeReply(request, active, order);
  request.entry.jobId = reply.id;
  return { request, active, reply, headers: headersOf(request, reply), error: bodyOf(fail(request, active)) };
}

interface Tellings {
  stream: () => Answer;
  whole: () => Answer;
  /** An answer without what a client needs of it. */
  withoutId: Answer;
}

async function answer(
  { request, active, reply }: StreamPlan,
  submission: Submission,
  tellings: Tellings,
): Promise<Answer> {
  const seconds = active.number('seconds') ?? 0;
  if (seconds > 0) await sleep(seconds * 1000, undefined, { signal: request.closed });
  if (['fail', 'expire', 'cancelled'].includes(active.choose('outcome'))) return fail(request, active);
  if (reply.order.stream) return confirmSubmission(submission, tellings.stream(), tellings.withoutId);
  const ms = wholeMs(active, reply);
  if (ms > 0) await sleep(ms, undefined, { signal: request.closed });
  if (active.choose('outcome') === 'stuck') return { kind: 'hang' };
  return confirmSubmission(submission, tellings.whole(), tellings.withoutId);
}

/**
 * As long as the directives `first` and `delay` let a stream take; without them a whole answer comes at once.
 */
function wholeMs(active: ActiveDirectives, { tokens, choices }: Reply): number {
  return (active.number('first') ?? 0) + Math.max(0, tokens * choices - 1) * (active.number('delay') ?? 0);
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
      logprobs: logprobsOf(reply, index),
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

function fail(request: SandboxRequest, active: ActiveDirectives): Answer {
  const text = active.choose('text');
  switch (active.choose('reason')) {
    case 'internal':
      return request.errorFormat.refuse(500, { text });
    case 'invalid':
      return request.errorFormat.refuse(400, { text, code: 'invalid_value', field: 'messages' });
    case 'quota':
      return request.errorFormat.refuse(429, { text, code: 'insufficient_quota' });
    case 'concurrency':
      return request.errorFormat.refuse(429, { text });
    case 'moderation':
      return request.errorFormat.refuse(400, { text, code: 'content_policy_violation' });
  }
}

function bodyOf(answer: Answer): string {
  return 'bytes' in answer ? answer.bytes.toString() : '';
}

/** The sandbox counts no rate limits; the headers are those of an idle account. */
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
  requireBearerKey(request);
  return json(200, { object: 'list', data: MODELS.map((model) => modelObject(request, model)) });
}

function showModel(request: SandboxRequest): Answer {
  requireBearerKey(request);
  return json(200, modelObject(request, checkModel(request, request.parameters['model'] ?? '')));
}

function modelObject(request: SandboxRequest, id: string): object {
  return { id, object: 'model', created: MODEL_CREATED_AT, owned_by: request.vendor };
}
