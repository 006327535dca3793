// Composes a chat's reply: text or JSON in one piece per token, the finish reason and the usage.

import { randomUUID } from 'node:crypto';
import type { ActiveDirectives } from '../directives.ts';
import { type Consumption, type Evidence, reportUsage } from '../evidence.ts';
import { exampleOf } from '../json-example.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import type { ChatOrder } from './chat-order.ts';

export interface Reply {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly order: ChatOrder;
  readonly choices: number;
  /** Number of tokens of each choice, which is its number of pieces. */
  readonly tokens: number;
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'content_filter';
  /** Undefined, which JSON omits, with `usage=missing`. */
  readonly usage: Evidence | undefined;
  piece(choice: number, index: number): string;
}

const TOKENS_BY_DEFAULT = 8;
/** Words that are one token each in OpenAI's encodings, including the space before them. */
const WORDS = 'the quick brown fox jumps over the lazy dog and runs into the deep white snow'.split(' ');

/** Has as many tokens as directed and allowed; JSON has at most one per character. */
export function composeReply(request: SandboxRequest, active: ActiveDirectives, order: ChatOrder): Reply {
  const json = order.form.kind === 'text' ? null : JSON.stringify(exampleOf(order.form.schema));
  const fullTokens = Math.min(
    active.number('tokens') ?? TOKENS_BY_DEFAULT,
    json?.length ?? Number.POSITIVE_INFINITY,
  );
  const tokens = Math.min(fullTokens, order.tokensMax);
  const choices = active.number('deliver') ?? order.choices;
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    created: Math.floor(Date.now() / 1000),
    order,
    choices,
    tokens,
    finishReason: finishReasonOf(active, order, tokens < fullTokens),
    usage: reportUsage(consumptionOf(request, order, tokens * choices), active.choose('usage')),
    piece: json === null ? wordAt : (_choice, index) => partOf(json, fullTokens, index),
  };
}

export function wholeText(reply: Reply, choice: number): string {
  return Array.from({ length: reply.tokens }, (_, index) => reply.piece(choice, index)).join('');
}

/** Each choice begins with a different word. */
function wordAt(choice: number, index: number): string {
  const word = WORDS[(choice + index) % WORDS.length] ?? '';
  return index === 0 ? word : ` ${word}`;
}

function partOf(json: string, parts: number, index: number): string {
  const edge = (number: number): number => Math.round((json.length * number) / parts);
  return json.slice(edge(index), edge(index + 1));
}

function finishReasonOf(
  active: ActiveDirectives,
  { form }: ChatOrder,
  isCutShort: boolean,
): Reply['finishReason'] {
  if (active.choose('outcome') === 'moderated') return 'content_filter';
  if (isCutShort) return 'length';
  return form.kind === 'call' ? 'tool_calls' : 'stop';
}

/**
 * With a `prompt_cache_key`, the text of a prompt counts as written to the cache at its first request to this
 * vendor and as read from the cache afterwards, however short it is.
 */
function consumptionOf(
  request: SandboxRequest,
  { promptTokens, cacheKey }: ChatOrder,
  outputTokens: number,
): Consumption {
  const { text, image } = promptTokens;
  const requestNumber =
    cacheKey === null ? 0 : request.counts.next(request.vendor, 'chat', cacheEntry(request, cacheKey));
  return {
    prompt_tokens: text + image,
    completion_tokens: outputTokens,
    total_tokens: text + image + outputTokens,
    prompt_tokens_details: {
      cached_tokens: requestNumber > 1 ? text : 0,
      cache_write_tokens: requestNumber === 1 ? text : 0,
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
