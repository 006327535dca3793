// Reads a request of OpenAI's Responses API, and prices it as the chat call that it amounts to.
import { upstreamsOf } from '../../domain/catalog/upstream.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { ReadCall } from '../chat/answer-form.ts';
import { notOffered } from '../chat/request/chat-messages.ts';
import { isSet, rejectCostlierOptions } from '../chat/request/costlier-options.ts';
import { priceChat, type PricedChat } from '../chat/request/read-chat.ts';
import type { KeyCaller, RequestContext } from '../context.ts';
import { readBody } from '../http/request-fields.ts';
import { passedForm } from './passed-form.ts';
import { RESPONSES_BODY, type ResponsesBody } from './responses-body.ts';
import { readItems } from './to-messages.ts';
import { readFormat, readToolChoice, readTools } from './to-options.ts';
import { translatedForm } from './translated-form.ts';

/** What needs a conversation that is kept. */
const OF_MEMORY = ['previous_response_id', 'conversation'];
/** What needs other things that are kept, and what is billed apart. */
const NOT_OFFERED = ['prompt', 'background', 'context_management'];
/** Fields that chat completions have under the same name. */
const SAME_NAMES = [
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
];
const LOGPROBS = 'message.output_text.logprobs';
const INCLUDED: readonly string[] = ['reasoning.encrypted_content', LOGPROBS];
/** Summaries of reasoning that a model may leave out; the others are promises. */
const OPTIONAL_SUMMARIES: readonly unknown[] = [undefined, null, 'auto', 'none'];

/** Names of ours for fields, in the refusals of the chat call. */
const NAMES: readonly (readonly [chat: RegExp, ours: string])[] = [
  [/^messages\b.*/, 'input'],
  [/^max_completion_tokens$/, 'max_output_tokens'],
  [/^response_format\b.*/, 'text.format'],
];

/** Reads and prices a request, and writes nothing. Throws a GatewayError that names the field. */
export function readResponsesCall(ctx: RequestContext<KeyCaller>): ReadCall {
  const request = readBody(RESPONSES_BODY, ctx.body);
  rejectStateful(request);
  rejectCostlierOptions(request);
  const { messages, imageParams, untranslatable: lostItem } = readItems(request);
  const untranslatable = lostItem ?? findUntranslatable(request);
  const priced = priceAsChat(ctx, writeChatBody(request, messages), {
    body: writeBody(request),
    untranslatable,
  });
  const canAsk = untranslatable === null || upstreamsOf(priced.model).some(({ responses }) => responses);
  if (!canAsk) {
    const message = `${untranslatable} is not offered with this model, whose provider knows chat completions only.`;
    throw new GatewayError('invalid_value', { param: untranslatable, message });
  }
  const images = priced.images.map(({ url, param }, index) => ({ url, param: imageParams[index] ?? param }));
  return {
    priced: { ...priced, images },
    requestText: () => JSON.stringify([request.instructions, request.input]),
    formOf: (chat, { api }, requestId) =>
      api === 'responses' ? passedForm(chat.model.id, requestId) : translatedForm(chat, request, requestId),
  };
}

function rejectStateful(request: ResponsesBody): void {
  if (request.store === true) throw withoutMemory('store', 'store: true');
  for (const field of OF_MEMORY) if (isSet(request[field])) throw withoutMemory(field, field);
  for (const field of NOT_OFFERED) if (isSet(request[field])) throw notOffered(field);
  const included = (request.include ?? []).findIndex((each) => !INCLUDED.includes(each));
  if (included >= 0) throw notOffered(`include[${included}]`, request.include?.[included]);
}

function withoutMemory(param: string, what: string): GatewayError {
  const message = `${what} is not offered. Nothing is stored; send the whole conversation.`;
  return new GatewayError('invalid_value', { param, message });
}

/** The first field that chat completions cannot say; null when they can say it all. */
function findUntranslatable(request: ResponsesBody): string | null {
  if (request.include?.includes(LOGPROBS) === true) return 'include';
  if ((request['top_logprobs'] ?? 0) !== 0) return 'top_logprobs';
  if ((request['truncation'] ?? 'disabled') !== 'disabled') return 'truncation';
  if (!OPTIONAL_SUMMARIES.includes(request.reasoning?.summary)) return 'reasoning.summary';
  return null;
}

/** Nothing is kept at the vendor either. The limit of the answer is added when the call is sent. */
function writeBody(request: ResponsesBody): Record<string, unknown> {
  const { model: _model, max_output_tokens: _limit, ...rest } = request;
  return { ...rest, store: false };
}

function writeChatBody(request: ResponsesBody, messages: readonly object[]): Record<string, unknown> {
  const body: Record<string, unknown> = {
    model: request.model,
    messages,
    stream: request.stream ?? false,
    max_completion_tokens: request.max_output_tokens,
    tools: readTools(request),
    tool_choice: readToolChoice(request),
    response_format: readFormat(request),
    verbosity: request.text?.verbosity,
    reasoning_effort: request.reasoning?.effort,
  };
  for (const name of SAME_NAMES) body[name] = request[name];
  const set = Object.entries(body).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(set);
}

function priceAsChat(
  ctx: RequestContext<KeyCaller>,
  body: Record<string, unknown>,
  responses: NonNullable<PricedChat['responses']>,
): PricedChat {
  try {
    return priceChat(ctx, body, responses);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.param === null) throw error;
    const { code, extra, headers, cause, param: chatParam } = error;
    const [pattern, ours] = NAMES.find(([chat]) => chat.test(chatParam)) ?? [];
    if (!pattern || ours === undefined) throw error;
    const message = error.message.replaceAll(chatParam, ours);
    throw new GatewayError(code, { param: ours, message, extra, headers, cause });
  }
}
