// Writes a reply as OpenAI's Responses API does: the response, and the events of its stream.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../answers.ts';
import type { Fields } from '../requests.ts';
import { wholeText, type Reply } from './chat-reply.ts';
import { endingOf, type Ending, type StreamPlan } from './chat-stream.ts';

export interface ResponsesPlan extends StreamPlan {
  readonly fields: Fields;
  readonly encryptsReasoning: boolean;
}

type Event = readonly [type: string, fields: object];

const DELAY_MS = 5;
/** Stands for what only the vendor can read. */
const ENCRYPTED = 'gAAAAABsandbox';

export function responseOf(plan: ResponsesPlan, status?: 'in_progress' | 'failed'): object {
  const { fields, reply } = plan;
  const { finishReason, usage, created, order } = reply;
  const reason = {
    length: 'max_output_tokens',
    content_filter: 'content_filter',
    stop: null,
    tool_calls: null,
  };
  const incomplete = status === undefined ? reason[finishReason] : null;
  return {
    id: idOf(reply, 'resp'),
    object: 'response',
    created_at: created,
    status: status ?? (incomplete ? 'incomplete' : 'completed'),
    background: false,
    error: status === 'failed' ? { code: 'server_error', message: 'The model failed to answer.' } : null,
    incomplete_details: incomplete && { reason: incomplete },
    instructions: fields['instructions'] ?? null,
    max_output_tokens: fields['max_output_tokens'] ?? null,
    metadata: fields['metadata'] ?? {},
    model: order.model,
    output: status === undefined ? itemsOf(plan) : [],
    parallel_tool_calls: fields['parallel_tool_calls'] ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    service_tier: order.serviceTier,
    store: fields['store'] ?? true,
    temperature: fields['temperature'] ?? 1,
    text: fields['text'] ?? { format: { type: 'text' } },
    tool_choice: fields['tool_choice'] ?? 'auto',
    tools: fields['tools'] ?? [],
    top_p: fields['top_p'] ?? 1,
    truncation: fields['truncation'] ?? 'disabled',
    usage: status === undefined ? usageOf(usage) : null,
  };
}

/** Sends the headers at once, the first token after the directive `first`, each further one after `delay`. */
export function streamResponse(plan: ResponsesPlan): Answer {
  const ending = endingOf(plan);
  const own = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  const headers = { ...plan.headers, ...own };
  return { kind: 'stream', status: 200, headers, pieces: numbered(plan, ending), isCut: isCut(ending) };
}

function isCut({ kind }: Ending): boolean {
  return kind.startsWith('cut');
}

async function* numbered(plan: ResponsesPlan, ending: Ending): AsyncGenerator<string> {
  let number = 0;
  for await (const [type, fields] of events(plan, ending)) {
    yield `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...fields })}\n\n`;
    number += 1;
  }
  if (ending.kind === 'cut_within_event') yield 'event: response.output_text.delta\ndata: {"type":"respo';
  if (ending.kind === 'silence') await once(plan.request.closed, 'abort');
}

async function* events(plan: ResponsesPlan, ending: Ending): AsyncGenerator<Event> {
  const { request, active, reply } = plan;
  const delayMs = active.number('delay') ?? DELAY_MS;
  await pause(request.closed, active.number('first') ?? 0);
  const isCutAtOnce = ending.afterTokens === 0 && ending.kind !== 'complete';
  if (isCutAtOnce && ending.kind !== 'error') return;
  const response = responseOf(plan, 'in_progress');
  yield ['response.created', { response }];
  yield ['response.in_progress', { response }];
  const items = itemsOf(plan);
  const outputIndex = items.length - 1;
  if (!isCutAtOnce) {
    for (const [index, item] of items.slice(0, -1).entries()) {
      yield ['response.output_item.added', { output_index: index, item }];
      yield ['response.output_item.done', { output_index: index, item }];
    }
    yield* opening(plan, outputIndex);
    for (let sent = 0; sent < ending.afterTokens; sent += 1) {
      if (sent > 0) await pause(request.closed, delayMs);
      yield deltaOf(plan, outputIndex, sent);
    }
  }
  if (ending.kind === 'error') {
    yield ['error', { code: 'server_error', message: 'The server had an error.', param: null }];
    yield ['response.failed', { response: responseOf(plan, 'failed') }];
  }
  if (ending.kind !== 'complete') return;
  yield* closing(plan, outputIndex);
  const type =
    reply.finishReason === 'stop' || reply.finishReason === 'tool_calls' ? 'completed' : 'incomplete';
  yield [`response.${type}`, { response: responseOf(plan) }];
}

function* opening(plan: ResponsesPlan, index: number): Generator<Event> {
  yield ['response.output_item.added', { output_index: index, item: answerItem(plan, 'in_progress') }];
  if (isCall(plan)) return;
  const part = { type: 'output_text', annotations: [], logprobs: [], text: '' };
  yield ['response.content_part.added', { ...placeOf(plan, index), part }];
}

function deltaOf(plan: ResponsesPlan, index: number, number: number): Event {
  const delta = plan.reply.piece(0, number);
  if (isCall(plan)) return ['response.function_call_arguments.delta', { ...placeOf(plan, index), delta }];
  return ['response.output_text.delta', { ...placeOf(plan, index), delta, logprobs: [] }];
}

function* closing(plan: ResponsesPlan, index: number): Generator<Event> {
  const text = wholeText(plan.reply, 0);
  const place = placeOf(plan, index);
  const item = answerItem(plan, 'completed');
  if (isCall(plan)) yield ['response.function_call_arguments.done', { ...place, arguments: text }];
  else {
    yield ['response.output_text.done', { ...place, text, logprobs: [] }];
    yield ['response.content_part.done', { ...place, part: partOf(text) }];
  }
  yield ['response.output_item.done', { output_index: index, item }];
}

/** With `reasoning.encrypted_content` an item of reasoning comes before the answer. */
function itemsOf(plan: ResponsesPlan): object[] {
  const id = idOf(plan.reply, 'rs');
  const reasoning = { id, type: 'reasoning', summary: [], encrypted_content: ENCRYPTED };
  return [...(plan.encryptsReasoning ? [reasoning] : []), answerItem(plan, 'completed')];
}

function answerItem(plan: ResponsesPlan, status: 'in_progress' | 'completed'): object {
  const { reply } = plan;
  const text = status === 'completed' ? wholeText(reply, 0) : '';
  const { form } = reply.order;
  if (form.kind !== 'call') {
    const content = status === 'completed' ? [partOf(text)] : [];
    return { id: idOf(reply, 'msg'), type: 'message', status, role: 'assistant', content };
  }
  const call = { call_id: `call_${reply.id.slice(-22)}0`, name: form.name, arguments: text };
  return { id: idOf(reply, 'fc'), type: 'function_call', status, ...call };
}

function partOf(text: string): object {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}

function placeOf(plan: ResponsesPlan, index: number): object {
  if (isCall(plan)) return { item_id: idOf(plan.reply, 'fc'), output_index: index };
  return { item_id: idOf(plan.reply, 'msg'), output_index: index, content_index: 0 };
}

function isCall({ reply }: ResponsesPlan): boolean {
  return reply.order.form.kind === 'call';
}

function idOf({ id }: Reply, prefix: string): string {
  return id.replace('chatcmpl-', `${prefix}_`);
}

/** The same figures as a chat has, under the names of this API. */
function usageOf(usage: Reply['usage']): object | undefined {
  if (usage === undefined || usage === null) return undefined;
  const figures: Fields = Object.fromEntries(Object.entries(usage ?? {}));
  return {
    input_tokens: figures['prompt_tokens'],
    input_tokens_details: figures['prompt_tokens_details'],
    output_tokens: figures['completion_tokens'],
    output_tokens_details: figures['completion_tokens_details'],
    total_tokens: figures['total_tokens'],
  };
}

/** Throws where the client disconnects meanwhile. */
async function pause(closed: AbortSignal, ms: number): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal: closed });
}
