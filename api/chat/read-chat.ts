// A chat request, checked as far as money and safety need it; everything else is passed on as it came.
import { z } from 'zod';
import { snapshotPrice, quote, type PriceSnapshot } from '../../domain/pricing.ts';
import type { Model } from '../../domain/catalog/catalog.ts';
import type { MicroCredits } from '../../domain/credits.ts';
import { GatewayError } from '../../domain/errors.ts';
import { checkInputImage } from '../../domain/files/input-images.ts';
import { answerTokensMax, resolveTextOrder, type AnswerLimit } from '../../domain/orders/text.ts';
import { maxPromptTokens } from '../../providers/chat/tokens.ts';
import type { UsageLimits } from '../../providers/chat/usage.ts';
import type { RequestContext, KeyCaller } from '../context.ts';
import { readBody } from '../http/request-fields.ts';
import type { Order } from '../../domain/orders/order.ts';

const MESSAGES_MAX = 5_000;
const ANSWERS_MAX = 8;
const ANSWERS_RULE = `must be a whole number from 1 to ${ANSWERS_MAX}`;
const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] as const;

const MESSAGE = z.looseObject({
  role: z.enum(ROLES, `must be one of ${ROLES.join(', ')}`),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string() }))], 'must be a text or a list of parts')
    .nullish(),
});

export const CHAT_MESSAGES = z
  .array(MESSAGE)
  .min(1, 'must hold a message')
  .max(MESSAGES_MAX, `must hold at most ${MESSAGES_MAX} messages`);
export const TOKENS = z.int('must be a whole number, 1 or more').min(1, 'must be a whole number, 1 or more');

/** Fields of OpenAI's that are not named here are passed on. */
export const CHAT_BODY = z.looseObject({
  model: z.string().min(1, 'must not be empty').max(200),
  messages: CHAT_MESSAGES,
  stream: z.boolean('must be true or false').nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: TOKENS.nullish(),
  max_completion_tokens: TOKENS.nullish(),
  n: z.int(ANSWERS_RULE).min(1, ANSWERS_RULE).max(ANSWERS_MAX, ANSWERS_RULE).nullish(),
});

/** The most that an upstream can truthfully say this call consumed. */
export function usageLimits({ model, order }: PricedChat): UsageLimits {
  const promptTokensMax = model.limits.contextTokens ?? Number.MAX_SAFE_INTEGER;
  return { promptTokensMax, completionTokensMax: order.outputTokens };
}

export interface PricedChat {
  model: Model;
  stream: boolean;
  /** Whether the caller wants to read the usage at the end of a stream. */
  includeUsage: boolean;
  order: Order;
  price: PriceSnapshot;
  /** The most the call can cost: so much is set aside. */
  estimate: MicroCredits;
  /** What upstreams are sent, but for `model`. */
  upstreamBody: Readonly<Record<string, unknown>>;
}

/** Throws a GatewayError that names the field. Nothing is written. */
export function readChat({ services, caller, body }: RequestContext<KeyCaller>): PricedChat {
  const request = readBody(CHAT_BODY, body);
  const model = services.catalog.models.get(request.model);
  if (!model) throw new GatewayError('model_not_found', { param: 'model' });
  if (model.kind !== 'text') throw new GatewayError('model_not_supported', { param: 'model' });
  const { modelScope } = caller.key;
  if (modelScope && !modelScope.includes(model.id))
    throw new GatewayError('model_not_allowed', { param: 'model' });
  checkParts(request.messages);
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
  };
}

/** The caller's limit of an answer, and the field it stands in. Null counts as absent. */
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

/** An answer without a limit could cost more than was set aside, and a stream without usage could not be billed. */
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

/**
 * Pictures are fetched by the upstream, but some upstreams stand in networks of their own; sound has tokens of its own
 * price, and there is none here. Throws a GatewayError that names the place of a part that may not be used.
 */
export function checkParts(messages: z.output<typeof MESSAGE>[]): void {
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [part, { type, image_url: picture }] of content.entries()) {
      const place = `messages[${index}].content[${part}]`;
      if (type === 'input_audio') throw notOffered(`${place}.type`);
      if (type !== 'image_url') continue;
      const param = `${place}.image_url`;
      const url: unknown =
        typeof picture === 'object' && picture !== null ? Reflect.get(picture, 'url') : picture;
      if (typeof url !== 'string')
        throw new GatewayError('invalid_value', { param, message: `${param} must hold a url.` });
      checkInputImage(url, `${param}.url`);
    }
  }
}

/** How long a vendor may keep a prompt at the price of a cache write; longer is dearer. */
const USUAL_RETENTIONS: readonly unknown[] = [null, 'in_memory', '30m'];

/** Upstreams bill these beside the tokens, or bill other tokens for them; there is no price for that here. */
function rejectCostlierOptions(request: Readonly<Record<string, unknown>>): void {
  const { service_tier: tier, modalities, prompt_cache_retention: retention } = request;
  const dearer = [
    { param: 'service_tier', isWished: tier === 'priority' || tier === 'scale' },
    { param: 'prompt_cache_retention', isWished: !USUAL_RETENTIONS.includes(retention ?? null) },
    { param: 'web_search_options', isWished: (request['web_search_options'] ?? null) !== null },
    { param: 'audio', isWished: (request['audio'] ?? null) !== null },
    { param: 'modalities', isWished: Array.isArray(modalities) && modalities.includes('audio') },
  ].find(({ isWished }) => isWished);
  if (dearer) throw notOffered(dearer.param);
}

function notOffered(param: string): GatewayError {
  return new GatewayError('invalid_value', { param, message: `${param}: this is not offered.` });
}
