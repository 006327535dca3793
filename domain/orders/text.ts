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
} as const;

/** The caller's limit of one answer, and the field it stands in. */
export type AnswerLimit = Pick<TextOrderInput, 'outputTokens' | 'names'>;

/**
 * Does not look at the prompt. Throws a GatewayError that names the caller's field for the limit of an
 * answer.
 */
export function resolveTextOrder(model: Model, input: Omit<TextOrderInput, 'mode' | 'prompt'>): Order {
  const answerTokens = answerTokensMax(model, input);
  const promptTokens = Math.min(input.promptTokens, model.limits.contextTokens ?? input.promptTokens);
  return { ...NO_MEDIA, mode: 'text', promptTokens, outputTokens: answerTokens * input.answers };
}

/** The tokens that one answer may have: what the caller asks for, or the model's default. Throws as above. */
export function answerTokensMax(model: Model, { outputTokens, names }: AnswerLimit): number {
  const most = model.limits.outputTokensMax ?? Number.MAX_SAFE_INTEGER;
  const tokens = outputTokens ?? model.defaults.outputTokens ?? most;
  if (tokens <= most) return tokens;
  throw invalidValue(names.outputTokens, `${names.outputTokens} may be at most ${most} for ${model.id}.`);
}
