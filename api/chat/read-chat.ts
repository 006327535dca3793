// Reads a chat request: checks what billing and safety need, and passes all other fields on unchanged.
import { z } from 'zod';
import type { Model } from '../../domain/catalog/catalog.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Order } from '../../domain/orders/order.ts';
import { answerTokensMax, resolveTextOrder, type AnswerLimit } from '../../domain/orders/text.ts';
import { quote, snapshotPrice, type PriceSnapshot } from '../../domain/pricing.ts';
import { maxPromptTokens } from '../../providers/chat/token-bound.ts';
import { TOKENS_PLAUSIBLE_MAX } from '../../providers/chat/usage.ts';
import type { KeyCaller, RequestContext } from '../context.ts';
import { readBody } from '../http/request-fields.ts';
import type { SentImage } from '../uploads/input-images.ts';
import { CHAT_MESSAGES, checkMessageParts } from './chat-messages.ts';
import { rejectCostlierOptions } from './costlier-options.ts';

const ANSWERS_MAX = 8;
const ANSWERS_RULE = `must be a whole number from 1 to ${ANSWERS_MAX}`;

/** Schema of a number of tokens. */
export const TOKENS = z.int('must be a whole number, 1 or more').min(1, 'must be a whole number, 1 or more');

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
  order: Order;
  price: PriceSnapshot;
  /** Highest possible cost of the call, which is reserved. */
  estimate: MicroCredits;
  /** The body for upstreams except `model`, which differs between them. */
  upstreamBody: Readonly<Record<string, unknown>>;
  /** The images of all messages, whose files have not been looked at. */
  images: readonly SentImage[];
}

/** Reads and prices a chat request, and writes nothing. Throws a GatewayError that names the field. */
export function readChat({ services, caller, body }: RequestContext<KeyCaller>): PricedChat {
  const request = readBody(CHAT_BODY, body);
  const model = services.catalog.models.get(request.model);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  if (model.kind !== 'text') throw new GatewayError('model_not_supported', { param: 'model' });
  const { modelScope } = caller.key;
  if (modelScope && !modelScope.includes(model.id))
    throw new GatewayError('model_not_allowed', { param: 'model' });
  const images = checkMessageParts(request.messages);
  rejectCostlierOptions(request);
  const limit = readLimit(request);
  const input = { promptTokens: maxPromptTokens(request), answers: request.n ?? 1, ...limit };
  const order = resolveTextOrder(model, input);
  const price = snapshotPrice(model);
  const stream = request.stream ?? false;
  return {
    model,
    stream,
    includeUsage: request.stream_options?.include_usage !== false,
    order,
    price,
    estimate: quote(price, order).total,
    upstreamBody: upstreamBody(request, stream, answerTokensMax(model, limit)),
    images,
  };
}

/**
 * Most tokens that a report can plausibly hold for prompt or answers; a larger report counts as none. More
 * than was ordered is plausible: see `readChatUsage`.
 */
export function tokensPlausibleMax({ model, order }: PricedChat): number {
  const context = model.limits.contextTokens;
  return context === undefined ? TOKENS_PLAUSIBLE_MAX : Math.max(context, order.outputTokens);
}

/** The caller's limit of answer tokens, and the name of its field. Null counts as absent. */
function readLimit(request: z.output<typeof CHAT_BODY>): AnswerLimit {
  const { max_tokens: older = null, max_completion_tokens: newer = null } = request;
  if (older !== null && newer !== null) {
    const message = 'max_tokens and max_completion_tokens mean the same; send one of them.';
    throw new GatewayError('conflicting_params', { param: 'max_tokens', message });
  }
  return newer === null
    ? { names: { outputTokens: 'max_tokens' }, outputTokens: older ?? undefined }
    : { names: { outputTokens: 'max_completion_tokens' }, outputTokens: newer };
}

/**
 * Adds a limit of answer tokens, without which an answer could cost more than was reserved, and asks streams
 * for their usage, without which they would be billed by our own count.
 */
function upstreamBody(
  request: z.output<typeof CHAT_BODY>,
  stream: boolean,
  answerTokens: number,
): Record<string, unknown> {
  const { model: _model, stream_options: streamOptions, ...rest } = request;
  const isLimited = (request.max_tokens ?? request.max_completion_tokens ?? null) !== null;
  return {
    ...rest,
    ...(isLimited ? {} : { max_completion_tokens: answerTokens }),
    ...(stream && { stream_options: { ...streamOptions, include_usage: true } }),
  };
}
