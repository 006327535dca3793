// An order of text: how many tokens its prompt and its answer can have at the most.
import type { Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import type { Order } from './order.ts';

export interface TextOrderInput {
  /** The most the prompt can have. */
  promptTokens: number;
  /** Of one answer; undefined: as the model's default says. */
  outputTokens: number | undefined;
  answers: number;
}

const NO_PICTURES = {
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
} as const;

/** Throws a GatewayError that names `param`, the caller's field for the answer's limit. */
export function orderText(model: Model, wishes: TextOrderInput, param: string): Order {
  const tokens = limitOfAnswer(model, wishes.outputTokens, param);
  const promptTokens = Math.min(wishes.promptTokens, model.limits.contextTokens ?? wishes.promptTokens);
  return { ...NO_PICTURES, mode: 'text', promptTokens, outputTokens: tokens * wishes.answers };
}

/** The tokens that one answer may have: what the caller asks for, or the model's default. */
export function limitOfAnswer(model: Model, wished: number | undefined, param: string): number {
  const most = model.limits.outputTokensMax ?? Number.MAX_SAFE_INTEGER;
  const tokens = wished ?? model.defaults.outputTokens ?? most;
  if (tokens <= most) return tokens;
  const message = `${param} may be at most ${most} for ${model.id}.`;
  throw new GatewayError('invalid_value', { param, message });
}
