// From a caller's input to an order in concrete values, checked against what the model offers.
import type { Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import { cutText } from '../cut-text.ts';
import { checkCombinations, checkDuration } from './combinations.ts';
import { checkInputs } from './inputs.ts';
import { checkOptions } from './options.ts';
import type { MediaOrderInput, Order, OrderInput } from './order.ts';
import { invalidValue, notOffered } from './refusals.ts';
import { answerLimitOf, resolveTextOrder } from './text.ts';
import { countVideoTokens } from './video-tokens.ts';

/** Characters of a prompt's own option that an error message repeats. */
const FLAG_CHARACTERS_SHOWN = 40;
/** Stands for the text of a request that is kept encrypted, where only its presence counts. */
const KEPT_ELSEWHERE = 'kept elsewhere';

/**
 * Throws a GatewayError that names the field and the allowed values. The mode has to be that of the model.
 */
export function resolveOrder(model: Model, input: OrderInput): Order {
  checkPrompt(model, input.prompt);
  return input.mode === 'text' ? resolveTextOrder(model, input) : resolveMediaOrder(model, input);
}

/**
 * An order of an earlier day, if the model still offers it: throws as `resolveOrder` does. A retry must not
 * run with values that the catalogue no longer has a price for.
 */
export function renewOrder(model: Model, order: Order): Order {
  return resolveOrder(model, inputOf(order));
}

function resolveMediaOrder(model: Model, input: MediaOrderInput): Order {
  const { limits } = model;
  if (model.refusesPromptFlags) rejectFlags(input.prompt);
  const resolution = chooseValue(model, input, 'resolution');
  const seconds = chooseSeconds(model, input.duration);
  const inputs = checkInputs(model, input);
  const ratio = chooseValue(model, input, 'ratio');
  const order = {
    mode: model.kind,
    images: checkImages(input.images, limits.imagesMax),
    seconds,
    resolution,
    ratio,
    audio: checkAudio(model, input.audio, input.names.audio),
    ...inputs,
    promptTokens: 0,
    outputTokens: 0,
    answerLimitedBy: null,
    responseFormat: input.responseFormat ?? 'url',
    ...checkOptions(model, input),
  };
  checkCombinations(limits.combinations ?? [], order, input.names);
  return { ...order, videoTokens: countVideoTokens(model, order) };
}

/**
 * The input that would lead to this order, with placeholders for the texts that the order does not contain.
 */
function inputOf(order: Order): OrderInput {
  const { mode, promptTokens } = order;
  if (mode === 'text') return { mode, prompt: KEPT_ELSEWHERE, promptTokens, ...answerLimitOf(order) };
  return {
    mode,
    prompt: KEPT_ELSEWHERE,
    images: order.images || undefined,
    duration: order.seconds || undefined,
    resolution: order.resolution ?? undefined,
    ratio: order.ratio ?? undefined,
    audio: order.audio ?? undefined,
    inputImages: Array.from({ length: order.inputImages }, () => KEPT_ELSEWHERE),
    inputVideos: Array.from({ length: order.inputVideos }, () => KEPT_ELSEWHERE),
    responseFormat: order.responseFormat,
    imageRole: ownRoleOf(order),
    options: {
      seed: order.seed ?? undefined,
      quality: order.quality ?? undefined,
      watermark: order.watermark ?? undefined,
      promptExtension: order.promptExtension ?? undefined,
    },
    names: {
      ratio: 'size',
      resolution: 'resolution',
      audio: 'audio',
      inputImages: order.imageRole === 'references' ? 'reference_images' : 'image_urls',
    },
  };
}

function ownRoleOf({ imageRole }: Order): MediaOrderInput['imageRole'] {
  return imageRole === 'last_frame' || imageRole === 'first_frame_and_references' ? imageRole : undefined;
}

function checkPrompt({ limits }: Model, prompt: string): void {
  const charactersMax = limits.promptCharactersMax;
  if (prompt.trim() === '') throw invalidValue('prompt', 'prompt must not be empty.');
  // Unicode code points, not UTF-16 units: an emoji counts once.
  if (prompt.length > charactersMax && [...prompt].length > charactersMax) {
    const message = `prompt may have at most ${charactersMax} characters.`;
    throw new GatewayError('prompt_too_long', { param: 'prompt', message });
  }
}

/** A vendor that reads options out of the prompt would make something else than what was priced. */
function rejectFlags(prompt: string): void {
  const flag = /--[a-z][a-z_-]*/i.exec(prompt)?.[0];
  if (flag === undefined) return;
  const shown = cutText(flag, FLAG_CHARACTERS_SHOWN);
  throw invalidValue('prompt', `prompt must not hold options such as ${shown}: order them as parameters.`);
}

/** Null where the model has no such choice. */
function chooseValue(
  { limits, defaults }: Model,
  input: MediaOrderInput,
  field: 'resolution' | 'ratio',
): string | null {
  const value = input[field] ?? defaults[field];
  const allowed = field === 'resolution' ? limits.resolutions : limits.ratios;
  const name = input.names[field];
  if (!allowed) {
    if (value !== undefined) throw notOffered(name);
    return null;
  }
  if (value !== undefined && allowed.includes(value)) return value;
  throw invalidValue(name, `${name} must be one of ${allowed.join(', ')}.`);
}

/** 0 where the model has no durations. */
function chooseSeconds({ limits, defaults }: Model, duration: number | undefined): number {
  if (!limits.durations) {
    if (duration !== undefined) throw notOffered('duration');
    return 0;
  }
  const seconds = duration ?? defaults.duration ?? 0;
  checkDuration(seconds, limits.durations);
  return seconds;
}

/** 0 where the model makes no images. */
function checkImages(ordered: number | undefined, imagesMax: number | undefined): number {
  if (imagesMax === undefined) {
    if (ordered !== undefined && ordered !== 1) throw notOffered('n');
    return 0;
  }
  const images = ordered ?? 1;
  if (Number.isInteger(images) && images >= 1 && images <= imagesMax) return images;
  throw invalidValue('n', `n must be an integer from 1 to ${imagesMax}.`);
}

/** Null where the model has no sound. */
function checkAudio(model: Model, ordered: boolean | undefined, param: string): boolean | null {
  const { limits, defaults } = model;
  if (ordered === undefined || ordered === defaults.audio) return defaults.audio ?? null;
  if (!limits.audio) throw notOffered(param);
  if (limits.audio.includes(ordered)) return ordered;
  throw invalidValue(param, `${param} must be ${limits.audio.join(' or ')}: ${model.id} knows nothing else.`);
}
