// An order of text: how many tokens its prompt and its answers can have at the most.
import type { Model } from '../catalog/catalog.ts';
import type { Order, TextOrderInput } from './order.ts';
import { invalidValue } from './refusals.ts';

/** What a text has none of. */
const NO_MEDIA = {
  images: 0,
  seconds: 0,
  resolution: null,
  ratio: null,
  audio: null,
  inputImages: 0,
  imageRole: 'none',
  inputVideos: 0,
  inputVideoSeconds: 0,
  videoTokens: 0,
  responseFormat: 'url',
  seed: null,
  quality: null,
  watermark: null,
  promptExtension: null,
} as const;

/** The caller's limit of one answer, the field it stands in, and how many answers there are to be. */
export type AnswerLimit = Pick<TextOrderInput, 'outputTokens' | 'names' | 'answers'>;

/**
 * Does not look at the prompt. Throws a GatewayError that names the caller's field for the limit of an
 * answer.
 */
export function resolveTextOrder(model: Model, input: Omit<TextOrderInput, 'mode' | 'prompt'>): Order {
  const { least, answers } = answerBounds(model, input);
  const promptTokens = Math.min(input.promptTokens, model.limits.contextTokens ?? input.promptTokens);
  const answerLimitedBy = input.outputTokens === undefined ? 'gateway' : 'caller';
  return { ...NO_MEDIA, mode: 'text', promptTokens, outputTokens: least * answers, answerLimitedBy };
}

/** How many tokens one answer is to have at the most. */
export interface AnswerBounds {
  /** What credits must cover: the caller's limit, or the model's default. */
  least: number;
  /** What credits may cover: the caller's limit, or all that the model can answer. */
  most: number;
  /** Whether the upstream itself keeps to `most`, so that it needs no limit. */
  isKept: boolean;
  /** How many answers of that length. */
  answers: number;
}

/** The bounds of an order with one answer, as a task keeps it; null for images and videos. */
export function boundsOfOrder(model: Model, order: Order): AnswerBounds | null {
  return order.mode === 'text' ? answerBounds(model, answerLimitOf(order)) : null;
}

/** The caller's limit of an order with one answer, which is that of a task. */
export function answerLimitOf({ outputTokens, answerLimitedBy }: Order): AnswerLimit {
  const limit = answerLimitedBy === 'caller' ? outputTokens : undefined;
  return { outputTokens: limit, answers: 1, names: { outputTokens: 'max_tokens' } };
}

/** Throws as above. */
export function answerBounds(model: Model, { outputTokens, names, answers }: AnswerLimit): AnswerBounds {
  const { outputTokensMax, contextTokens } = model.limits;
  const ofModel = outputTokensMax ?? contextTokens;
  const most = ofModel ?? outputTokens ?? model.defaults.outputTokens ?? Number.MAX_SAFE_INTEGER;
  if (outputTokens !== undefined && outputTokens > most)
    throw invalidValue(names.outputTokens, `${names.outputTokens} may be at most ${most} for ${model.id}.`);
  if (outputTokens !== undefined) return { least: outputTokens, most: outputTokens, isKept: false, answers };
  const least = Math.min(model.defaults.outputTokens ?? most, most);
  return { least, most, isKept: ofModel !== undefined, answers };
}
