// From a caller's wishes to an order in concrete values, checked against what the model offers.
import type { Durations, Model } from './catalog.ts';
import { GatewayError } from './errors.ts';
import type { TaskMode } from './tasks.ts';

/** What is ordered, in concrete values. Holds nothing secret, so that it may be stored in clear. */
export interface Order {
  mode: TaskMode;
  images: number;
  /** 0 where the kind of task has no duration. */
  seconds: number;
  resolution: string | null;
  ratio: string | null;
  audio: boolean | null;
  inputImages: number;
  responseFormat: 'url' | 'b64_json';
}

/** The wishes of one request, already of the right types; absent means: as the model's default says. */
export interface Wishes {
  prompt: string;
  images?: number | undefined;
  duration?: number | undefined;
  resolution?: string | undefined;
  ratio?: string | undefined;
  audio?: boolean | undefined;
  inputImages: readonly string[];
  responseFormat?: 'url' | 'b64_json' | undefined;
}

/** Field names as the endpoint calls them, so that an error names the caller's own field. */
export interface FieldNames {
  ratio: string;
  resolution: string;
  audio: string;
  inputImages: string;
}

/** Throws a GatewayError that names the field and the allowed values. */
export function resolveOrder(model: Model, wishes: Wishes, names: FieldNames): Order {
  const { limits, defaults } = model;
  checkPrompt(wishes.prompt, limits.promptCharactersMax);
  const resolution = choose(
    'resolution',
    wishes.resolution ?? defaults.resolution,
    limits.resolutions,
    names,
  );
  const seconds = wishes.duration ?? defaults.duration ?? 0;
  if (limits.durations) checkDuration(seconds, limits.durations, 'duration');
  else if (wishes.duration !== undefined) throw notOffered('duration');
  const combination = limits.combinations?.find((pair) => pair.resolution === resolution);
  if (combination) checkDuration(seconds, combination.durations, 'duration', ` at ${combination.resolution}`);
  return {
    mode: model.kind,
    images: checkImages(wishes.images, limits.imagesMax),
    seconds: limits.durations ? seconds : 0,
    resolution,
    ratio: choose('ratio', wishes.ratio ?? defaults.ratio, limits.ratios, names),
    audio: wishes.audio ?? defaults.audio ?? null,
    inputImages: checkInputImages(model, wishes.inputImages.length, names.inputImages),
    responseFormat: wishes.responseFormat ?? 'url',
  };
}

/**
 * An order of an earlier day, if the model still offers it: throws as `resolveOrder` does. A retry must not run with
 * values that the catalogue no longer has a price for.
 */
export function renewOrder(model: Model, order: Order): Order {
  const names = { ratio: 'size', resolution: 'resolution', audio: 'audio', inputImages: 'image_urls' };
  const wishes: Wishes = {
    prompt: 'kept elsewhere',
    images: order.images || undefined,
    duration: order.seconds || undefined,
    resolution: order.resolution ?? undefined,
    ratio: order.ratio ?? undefined,
    audio: order.audio ?? undefined,
    inputImages: Array.from({ length: order.inputImages }, () => 'kept elsewhere'),
    responseFormat: order.responseFormat,
  };
  return resolveOrder(model, wishes, names);
}

function checkPrompt(prompt: string, charactersMax: number): void {
  if (prompt.trim() === '')
    throw new GatewayError('invalid_value', { param: 'prompt', message: 'prompt must not be empty.' });
  // Unicode code points, not UTF-16 units: an emoji counts once.
  if (prompt.length > charactersMax && [...prompt].length > charactersMax) {
    const message = `prompt may have at most ${charactersMax} characters.`;
    throw new GatewayError('prompt_too_long', { param: 'prompt', message });
  }
}

function checkDuration(seconds: number, durations: Durations, param: string, where = ''): void {
  const allowed =
    'values' in durations ? durations.values.join(', ') : `${durations.min} to ${durations.max}`;
  const fits =
    'values' in durations
      ? durations.values.includes(seconds)
      : Number.isInteger(seconds) && seconds >= durations.min && seconds <= durations.max;
  if (!fits)
    throw new GatewayError('invalid_value', {
      param,
      message: `${param} must be ${allowed} (whole seconds)${where}.`,
    });
}

function choose(
  field: 'resolution' | 'ratio',
  value: string | undefined,
  allowed: readonly string[] | undefined,
  names: FieldNames,
): string | null {
  if (!allowed) {
    if (value !== undefined) throw notOffered(names[field]);
    return null;
  }
  if (value !== undefined && allowed.includes(value)) return value;
  const message = `${names[field]} must be one of ${allowed.join(', ')}.`;
  throw new GatewayError('invalid_value', { param: names[field], message });
}

function checkImages(wished: number | undefined, imagesMax: number | undefined): number {
  if (imagesMax === undefined) {
    if (wished !== undefined && wished !== 1) throw notOffered('n');
    return 0;
  }
  const images = wished ?? 1;
  if (Number.isInteger(images) && images >= 1 && images <= imagesMax) return images;
  throw new GatewayError('invalid_value', {
    param: 'n',
    message: `n must be an integer from 1 to ${imagesMax}.`,
  });
}

function checkInputImages(model: Model, count: number, param: string): number {
  const { inputImagesMin = 0, inputImagesMax = 0 } = model.limits;
  if (count >= inputImagesMin && count <= inputImagesMax) return count;
  const range =
    inputImagesMax === 0 ? 'no input images' : `${inputImagesMin} to ${inputImagesMax} input images`;
  throw new GatewayError('invalid_value', { param, message: `${model.id} takes ${range}.` });
}

function notOffered(param: string): GatewayError {
  return new GatewayError('invalid_value', {
    param,
    message: `This model does not offer a choice of ${param}.`,
  });
}
