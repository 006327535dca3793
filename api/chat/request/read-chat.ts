// Reads a chat request: checks what billing and safety need, and passes all other fields on unchanged.
import { z } from 'zod';
import type { Model } from '../../../domain/catalog/catalog.ts';
import type { MicroCredits } from '../../../domain/credits.ts';
import { GatewayError } from '../../../domain/errors.ts';
import { fitAnswers, quoteLongest } from '../../../domain/orders/answer-length.ts';
import type { Order } from '../../../domain/orders/order.ts';
import { wrongKind } from '../../../domain/orders/refusals.ts';
import {
  answerBounds,
  resolveTextOrder,
  type AnswerBounds,
  type AnswerLimit,
} from '../../../domain/orders/text.ts';
import { quote, snapshotPrice, type PriceSnapshot } from '../../../domain/pricing.ts';
import type { ResponsesRequest } from '../../../providers/chat/chat.ts';
import { maxPromptTokens } from '../../../providers/chat/token-bound.ts';
import { TOKENS_PLAUSIBLE_MAX } from '../../../providers/chat/usage.ts';
import type { KeyCaller, RequestContext } from '../../context.ts';
import { readBody } from '../../http/request-fields.ts';
import type { SentImage } from '../../uploads/input-images.ts';
import { CHAT_MESSAGES, checkMessageParts } from './chat-messages.ts';
import { rejectCostlierOptions } from './costlier-options.ts';
import { TOKENS } from './token-limit.ts';

const ANSWERS_MAX = 8;
const ANSWERS_RULE = `must be a whole number from 1 to ${ANSWERS_MAX}`;

/** Schema of the body. Further fields of OpenAI's API are accepted and passed on. */
export const CHAT_BODY = z.looseObject({
  model: z.string().min(1, 'must not be empty').max(200),
  messages: CHAT_MESSAGES,
  stream: z.boolean('must be true or false').nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: TOKENS.nullish(),
  max_completion_tokens: TOKENS.nullish(),
  n: z.int(ANSWERS_RULE).min(1, ANSWERS_RULE).max(ANSWERS_MAX, ANSWERS_RULE).nullish(),
});

/** A chat request that was checked, with its order and price. */
export interface PricedChat {
  model: Model;
  stream: boolean;
  /** Whether a stream ends with an event that holds the usage. */
  includeUsage: boolean;
  /** The order with the shortest answer that credits must cover. */
  order: Order;
  price: PriceSnapshot;
  /** Highest possible cost of `order`, which is reserved at least. */
  estimate: MicroCredits;
  /** Highest possible cost of the longest answer, which is reserved if the credits allow it. */
  estimateMax: MicroCredits;
  /** Of one answer. */
  answerTokens: AnswerBounds;
  /** The body for upstreams except `model`, which differs between them. */
  upstreamBody: Readonly<Record<string, unknown>>;
  /** The call for upstreams that speak Responses; null for a call of chat completions. */
  responses: ResponsesRequest | null;
  /** The images of all messages, whose files have not been looked at. */
  images: readonly SentImage[];
}

/** Reads and prices a chat request, and writes nothing. Throws a GatewayError that names the field. */
export function readChat(ctx: RequestContext<KeyCaller>): PricedChat {
  return priceChat(ctx, ctx.body);
}

/** Prices a call by what it is as a chat request, whose model answers it. Throws as `readChat` does. */
export function priceChat(
  { services, caller }: RequestContext<KeyCaller>,
  body: unknown,
  responses: ResponsesRequest | null = null,
): PricedChat {
  const request = readBody(CHAT_BODY, body);
  const model = services.catalog.models.get(request.model);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  if (model.kind !== 'text') throw wrongKind(model, 'text');
  const { modelScope } = caller.key;
  if (modelScope && !modelScope.includes(model.id)) {
    services.keyCache.forget(caller.key); // its owner may widen the scope at any moment
    throw new GatewayError('model_not_allowed', { param: 'model' });
  }
  const images = checkMessageParts(request.messages);
  rejectCostlierOptions(request);
  const limit = readLimit(request);
  // An upstream that speaks Responses reads the call itself, with what its translation leaves out.
  const promptTokens = Math.max(maxPromptTokens(request), maxPromptTokens(responses?.body ?? {}));
  const order = resolveTextOrder(model, { promptTokens, ...limit });
  const answerTokens = answerBounds(model, limit);
  const price = snapshotPrice(model);
  const stream = request.stream ?? false;
  return {
    model,
    stream,
    includeUsage: request.stream_options?.include_usage !== false,
    order,
    price,
    estimate: quote(price, order).total,
    estimateMax: quoteLongest(price, order, answerTokens),
    answerTokens,
    upstreamBody: upstreamBody(request, stream),
    responses,
    images,
  };
}

/**
 * The chat as it is held to what was reserved. The limit goes to the upstream, unless the caller sent one or
 * the model keeps to its own.
 */
export function limitChat(chat: PricedChat, reserved: MicroCredits): PricedChat {
  const { price, answerTokens, upstreamBody } = chat;
  const order = fitAnswers(price, chat.order, answerTokens, reserved);
  const limited = { ...chat, order, estimate: reserved };
  if (order.answerLimitedBy === 'model' || limitOf(upstreamBody) !== null) return limited;
  const max_completion_tokens = order.outputTokens / answerTokens.answers;
  return { ...limited, upstreamBody: { ...upstreamBody, max_completion_tokens } };
}

/**
 * Most tokens that a report can plausibly hold for prompt or answers; a larger report counts as none. More
 * than was ordered is plausible: see `readChatUsage`.
 */
export function tokensPlausibleMax({ model, order }: PricedChat): number {
  const context = model.limits.contextTokens;
  return context === undefined ? TOKENS_PLAUSIBLE_MAX : Math.max(context, order.outputTokens);
}

function limitOf({ max_tokens: older, max_completion_tokens: newer }: PricedChat['upstreamBody']): unknown {
  return newer ?? older ?? null;
}

/** The caller's limit of answer tokens, the name of its field, and `n`. Null counts as absent. */
function readLimit(request: z.output<typeof CHAT_BODY>): AnswerLimit {
  const { max_tokens: older = null, max_completion_tokens: newer = null } = request;
  if (older !== null && newer !== null) {
    const message = 'max_tokens and max_completion_tokens mean the same; send one of them.';
    throw new GatewayError('conflicting_params', { param: 'max_tokens', message });
  }
  const answers = request.n ?? 1;
  return newer === null
    ? { names: { outputTokens: 'max_tokens' }, outputTokens: older ?? undefined, answers }
    : { names: { outputTokens: 'max_completion_tokens' }, outputTokens: newer, answers };
}

/** Asks streams for their usage, without which they would be billed by our own count. */
function upstreamBody(request: z.output<typeof CHAT_BODY>, stream: boolean): Record<string, unknown> {
  const { model: _model, stream_options: streamOptions, ...rest } = request;
  return { ...rest, ...(stream && { stream_options: { ...streamOptions, include_usage: true } }) };
}
