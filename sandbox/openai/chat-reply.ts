/** What the model says: words or JSON in as many pieces as it has tokens, how it ends and what it consumed. */

import { randomUUID } from 'node:crypto';
import type { SandboxRequest } from '../dialect.ts';
import type { Orders } from '../directives.ts';
import { type Consumption, type Evidence, tellUsage } from '../evidence.ts';
import { exampleOf } from '../json-example.ts';
import type { ChatOrder } from './chat-order.ts';

export interface Reply {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly order: ChatOrder;
  readonly choices: number;
  /** Of each choice: it comes in so many pieces. */
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  /** Undefined where the vendor does not say. */
  readonly usage: Evidence | undefined;
  piece(choice: number, index: number): string;
}

const TOKENS = 8;
/** Each is one token of OpenAI's encodings, with the space before it. */
const WORDS = 'the quick brown fox jumps over the lazy dog and runs into the deep white snow'.split(' ');

/** As many tokens as ordered and allowed; JSON has no more of them than characters. */
export function composeReply(request: SandboxRequest, orders: Orders, order: ChatOrder): Reply {
  const json = order.form.kind === 'text' ? undefined : JSON.stringify(exampleOf(order.form.schema));
  const wished = Math.min(orders.number('tokens') ?? TOKENS, json?.length ?? Number.POSITIVE_INFINITY);
  const tokens = Math.min(wished, order.tokensMax);
  const choices = orders.number('deliver') ?? order.choices;
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    order,
    choices,
    tokens,
    finishReason: finishReasonOf(orders, order, tokens < wished),
    usage: tellUsage(consumptionOf(request, order, tokens * choices), orders.choose('usage')),
    piece: json === undefined ? wordAt : (_choice, index) => partOf(json, wished, index),
  };
}

export function wholeText(reply: Reply, choice: number): string {
  return Array.from({ length: reply.tokens }, (_, index) => reply.piece(choice, index)).join('');
}

/** Choices begin at different words. */
function wordAt(choice: number, index: number): string {
  const word = WORDS[(choice + index) % WORDS.length] ?? '';
  return index === 0 ? word : ` ${word}`;
}

function partOf(json: string, parts: number, index: number): string {
  const edge = (number: number): number => Math.round((json.length * number) / parts);
  return json.slice(edge(index), edge(index + 1));
}

function finishReasonOf(orders: Orders, { form }: ChatOrder, isCutShort: boolean): Reply['finishReason'] {
  if (orders.choose('outcome') === 'moderated') return 'content_filter';
  if (isCutShort) return 'length';
  return form.kind === 'call' ? 'tool_calls' : 'stop';
}

/**
 * With a `prompt_cache_key`, the text of a prompt is written to the cache the first time this vendor sees it and read
 * from the cache afterwards, however short it is.
 */
function consumptionOf(
  request: SandboxRequest,
  { promptTokens, cacheKey }: ChatOrder,
  outputTokens: number,
): Consumption {
  const { text, image } = promptTokens;
  const seen =
    cacheKey === undefined ? 0 : request.counts.next(request.vendor, 'chat', cacheEntry(request, cacheKey));
  return {
    prompt_tokens: text + image,
    completion_tokens: outputTokens,
    total_tokens: text + image + outputTokens,
    prompt_tokens_details: {
      cached_tokens: seen > 1 ? text : 0,
      cache_write_tokens: seen === 1 ? text : 0,
      audio_tokens: 0,
      text_tokens: text,
      image_tokens: image,
    },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      text_tokens: outputTokens,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function cacheEntry(request: SandboxRequest, cacheKey: string): string {
  return `cache ${cacheKey} ${request.entry.prompt}`;
}
