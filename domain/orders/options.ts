// Model-specific options of an order: what a model declares in its limits is taken, all else is refused by
// name, so that nothing is charged for what would be ignored.
import type { Model } from '../catalog/catalog.ts';
import type { GatewayError } from '../errors.ts';
import type { MediaOrderInput } from './order.ts';
import { invalidValue } from './refusals.ts';

export interface OrderedOptions {
  /** Null: the vendor chooses, or the model takes none. */
  seed: number | null;
  /** Null where the model has no such choice. */
  quality: string | null;
  watermark: boolean | null;
  promptExtension: boolean | null;
}

/** Throws a GatewayError that names the option, and the options or values that the model has. */
export function checkOptions(model: Model, input: MediaOrderInput): OrderedOptions {
  const { seed, negativePrompt, quality, watermark, promptExtension, unknown = [] } = input.options ?? {};
  const declared = model.limits.options ?? {};
  const [first] = unknown;
  if (first !== undefined) throw notAnOption(model, first);
  if (negativePrompt !== undefined) checkNegativePrompt(model, negativePrompt);
  if (seed !== undefined && !declared.seed) throw notAnOption(model, 'seed');
  if (seed !== undefined && declared.seed) checkSeed(seed, declared.seed);
  if (quality !== undefined && !declared.quality) throw notAnOption(model, 'quality');
  if (quality !== undefined && declared.quality && !declared.quality.includes(quality))
    throw invalidValue('metadata.quality', `metadata.quality must be one of ${declared.quality.join(', ')}.`);
  if (watermark !== undefined && !declared.watermark) throw notAnOption(model, 'watermark');
  if (promptExtension !== undefined && !declared.promptExtension) throw notAnOption(model, 'prompt_extend');
  return {
    seed: seed ?? null,
    quality: quality ?? model.defaults.quality ?? null,
    watermark: declared.watermark ? (watermark ?? false) : null,
    promptExtension: declared.promptExtension ? (promptExtension ?? true) : null,
  };
}

/** The names that `metadata` may have for a model, in the order in which they are shown. */
export function optionNames({ kind, limits }: Model): string[] {
  const { options = {}, frameImagesMax = 1, inputImagesMax = 0 } = limits;
  const frames = kind === 'video' && inputImagesMax > 0 ? frameImagesMax : 0;
  return [
    ...(limits.resolutions ? ['resolution'] : []),
    ...(limits.audio ? ['audio'] : []),
    ...(options.seed ? ['seed'] : []),
    ...(options.negativePrompt ? ['negative_prompt'] : []),
    ...(options.quality ? ['quality'] : []),
    ...(options.watermark ? ['watermark'] : []),
    ...(options.promptExtension ? ['prompt_extend'] : []),
    ...(frames >= 1 || limits.frameBesideReferences ? ['first_frame'] : []),
    ...(frames >= 2 ? ['last_frame'] : []),
  ];
}

function notAnOption(model: Model, name: string): GatewayError {
  const param = `metadata.${name}`;
  const names = optionNames(model);
  const taken = names.length === 0 ? 'no options' : `only ${names.join(', ')}`;
  return invalidValue(param, `${param}: ${model.id} takes ${taken}.`);
}

function checkNegativePrompt(model: Model, text: string): void {
  const limit = model.limits.options?.negativePrompt;
  if (!limit) throw notAnOption(model, 'negative_prompt');
  if ([...text].length > limit.charactersMax)
    throw invalidValue(
      'metadata.negative_prompt',
      `metadata.negative_prompt may have at most ${limit.charactersMax} characters.`,
    );
}

function checkSeed(seed: number, { min, max }: { min: number; max: number }): void {
  if (!Number.isInteger(seed) || seed < min || seed > max)
    throw invalidValue('metadata.seed', `metadata.seed must be an integer from ${min} to ${max}.`);
}
