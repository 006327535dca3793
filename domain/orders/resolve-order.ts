// From a caller's wishes to an order in concrete values, checked against what the model offers.
import type { Model } from '../catalog/catalog.ts';
import { checkCombinations, checkDuration } from './combinations.ts';
import { GatewayError } from '../errors.ts';
import { checkInputs } from './inputs.ts';
import { orderText } from './text.ts';
import { countVideoTokens } from './video-tokens.ts';
import { type Order, type OrderInput, type FieldNames } from './order.ts';

/** Throws a GatewayError that names the field and the allowed values. */
export function resolveOrder(model: Model, wishes: OrderInput, names: FieldNames): Order {
  const { limits, defaults } = model;
  checkPrompt(wishes.prompt, limits.promptCharactersMax);
  if (model.refusesPromptFlags) refuseFlags(wishes.prompt);
  const resolution = choose(
    'resolution',
    wishes.resolution ?? defaults.resolution,
    limits.resolutions,
    names,
  );
  const seconds = wishes.duration ?? defaults.duration ?? 0;
  if (limits.durations) checkDuration(seconds, limits.durations);
  else if (wishes.duration !== undefined) throw notOffered('duration');
  const inputs = checkInputs(model, wishes, names);
  const ratio = choose('ratio', wishes.ratio ?? defaults.ratio, limits.ratios, names);
  const order = {
    mode: model.kind,
    images: checkImages(wishes.images, limits.imagesMax),
    seconds: limits.durations ? seconds : 0,
    resolution,
    ratio,
    audio: checkAudio(model, wishes.audio, names.audio),
    ...inputs,
    promptTokens: 0,
    outputTokens: 0,
    responseFormat: wishes.responseFormat ?? 'url',
  };
  checkCombinations(limits.combinations ?? [], order, names);
  return { ...order, videoTokens: countVideoTokens(model, order) };
}

/**
 * An order of an earlier day, if the model still offers it: throws as `resolveOrder` does. A retry must not run with
 * values that the catalogue no longer has a price for.
 */
export function renewOrder(model: Model, order: Order): Order {
  if (order.mode === 'text') return orderText(model, { ...order, answers: 1 }, 'max_tokens');
  const inputImages = order.imageRole === 'references' ? 'reference_images' : 'image_urls';
  const names = { ratio: 'size', resolution: 'resolution', audio: 'audio', inputImages };
  const wishes: OrderInput = {
    prompt: 'kept elsewhere',
    images: order.images || undefined,
    duration: order.seconds || undefined,
    resolution: order.resolution ?? undefined,
    ratio: order.ratio ?? undefined,
    audio: order.audio ?? undefined,
    inputImages: Array.from({ length: order.inputImages }, () => 'kept elsewhere'),
    inputVideos: Array.from({ length: order.inputVideos }, () => 'kept elsewhere'),
    responseFormat: order.responseFormat,
  };
  return resolveOrder(model, wishes, names);
}

/** Throws a GatewayError for a prompt that is empty or too long. */
export function checkPrompt(prompt: string, charactersMax: number): void {
  if (prompt.trim() === '')
    throw new GatewayError('invalid_value', { param: 'prompt', message: 'prompt must not be empty.' });
  // Unicode code points, not UTF-16 units: an emoji counts once.
  if (prompt.length > charactersMax && [...prompt].length > charactersMax) {
    const message = `prompt may have at most ${charactersMax} characters.`;
    throw new GatewayError('prompt_too_long', { param: 'prompt', message });
  }
}

/** A vendor that reads options out of the prompt would make something else than what was priced. */
function refuseFlags(prompt: string): void {
  const flag = /--[a-z][a-z_-]*/i.exec(prompt)?.[0];
  if (flag === undefined) return;
  const message = `prompt must not hold options such as ${flag.slice(0, 40)}: order them as parameters.`;
  throw new GatewayError('invalid_value', { param: 'prompt', message });
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

function checkAudio(model: Model, wished: boolean | undefined, param: string): boolean | null {
  const { limits, defaults } = model;
  if (wished === undefined || wished === defaults.audio) return defaults.audio ?? null;
  if (!limits.audio) throw notOffered(param);
  if (limits.audio.includes(wished)) return wished;
  const message = `${param} must be ${limits.audio.join(' or ')}: ${model.id} knows nothing else.`;
  throw new GatewayError('invalid_value', { param, message });
}

function notOffered(param: string): GatewayError {
  return new GatewayError('invalid_value', {
    param,
    message: `This model does not offer a choice of ${param}.`,
  });
}
