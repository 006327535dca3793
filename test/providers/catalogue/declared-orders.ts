// Every order that a model of the catalogue declares to take, as callers would ask for it: all resolutions,
// uses of input images, videos, sound and longest and shortest durations with one another, and every ratio,
// quality and seed once.
import type { Durations, Model } from '../../../domain/catalog/catalog.ts';
import { GatewayError } from '../../../domain/errors.ts';
import type { MediaOptions, MediaOrderInput, Order } from '../../../domain/orders/order.ts';
import { resolveOrder } from '../../../domain/orders/resolve-order.ts';

/** An order and the input that it was made from. */
export interface DeclaredOrder {
  input: MediaOrderInput;
  order: Order;
}

/** Stands for an image or a video, of which only the number counts here. */
const LINK = 'https://media.example.com/1';

type Images = Pick<MediaOrderInput, 'inputImages' | 'imageRole' | 'names'>;

export function* declaredOrders(model: Model): Generator<DeclaredOrder> {
  for (const input of declaredInputs(model)) {
    const order = orderOrNull(model, input);
    if (order) yield { input, order };
  }
}

/** Null where a combination of the catalogue refuses what each member alone allows. */
function orderOrNull(model: Model, input: MediaOrderInput): Order | null {
  try {
    return resolveOrder(model, input);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_value') return null;
    throw error;
  }
}

function* declaredInputs(model: Model): Generator<MediaOrderInput> {
  const { limits } = model;
  const ratios = limits.ratios ?? [undefined];
  const options = [...optionsOf(model)];
  let turn = 0;
  for (const images of imagesOf(model))
    for (const videos of countsOf(0, limits.inputVideosMax ?? 0))
      for (const resolution of limits.resolutions ?? [undefined])
        for (const duration of endsOf(limits.durations))
          for (const audio of isSoundCombined(model) ? (limits.audio ?? [undefined]) : [undefined]) {
            yield {
              mode: model.kind === 'image' ? 'image' : 'video',
              prompt: 'a fox',
              ...images,
              inputVideos: Array.from({ length: videos }, () => LINK),
              resolution,
              duration,
              audio: audio ?? limits.audio?.[turn % limits.audio.length],
              ratio: ratios[turn % ratios.length],
              options: options[turn % options.length],
            };
            turn += 1;
          }
  yield* singly(model);
}

/** Whether a price or a combination depends on the sound. */
function isSoundCombined({ price, limits: { combinations = [] } }: Model): boolean {
  return price.some(({ when }) => when.audio !== undefined) || combinations.some(({ audio }) => audio);
}

/** Each ratio and option on its own, with defaults for all the rest. */
function* singly(model: Model): Generator<MediaOrderInput> {
  const [images = plain([], 'image_urls')] = imagesOf(model);
  const base = { mode: model.kind === 'image' ? 'image' : 'video', prompt: 'a fox', ...images } as const;
  const { ratios = [], imagesMax } = model.limits;
  for (const ratio of ratios) yield { ...base, ratio };
  if (imagesMax !== undefined) yield { ...base, images: imagesMax };
  for (const options of optionsOf(model)) yield { ...base, options };
}

/** No images, frames, and one or as many references as there may be. */
function* imagesOf({ kind, limits }: Model): Generator<Images> {
  const { inputImagesMin = 0, inputImagesMax = 0, frameImagesMax = 1, referenceImagesMax = 0 } = limits;
  if (inputImagesMin === 0) yield plain([], 'image_urls');
  if (kind === 'image')
    for (const count of countsOf(1, inputImagesMax)) yield plain(linksOf(count), 'image_urls');
  if (kind === 'image' || inputImagesMax === 0) return;
  for (let count = 1; count <= frameImagesMax; count += 1) yield plain(linksOf(count), 'image_urls');
  for (const count of countsOf(1, referenceImagesMax)) yield plain(linksOf(count), 'reference_images');
  if (limits.lastFrameAlone) yield { ...plain(linksOf(1), 'metadata.last_frame'), imageRole: 'last_frame' };
  const besideFrame = limits.frameBesideReferences ? Math.min(referenceImagesMax, inputImagesMax - 1) : 0;
  for (const count of countsOf(1, besideFrame))
    yield { ...plain(linksOf(count + 1), 'reference_images'), imageRole: 'first_frame_and_references' };
}

function* optionsOf({ limits: { options = {} } }: Model): Generator<MediaOptions> {
  yield {};
  if (options.seed) yield { seed: options.seed.min };
  if (options.seed) yield { seed: options.seed.max };
  if (options.negativePrompt) yield { negativePrompt: 'n'.repeat(options.negativePrompt.charactersMax) };
  for (const quality of options.quality ?? []) yield { quality };
  if (options.watermark) yield { watermark: true };
  if (options.promptExtension) yield { promptExtension: false };
}

/** The least and the most, each once. */
function countsOf(min: number, max: number): number[] {
  if (max < min) return [];
  return max === min ? [min] : [...new Set([min, min === 0 ? 1 : min, max])];
}

function endsOf(durations: Durations | undefined): (number | undefined)[] {
  if (!durations) return [undefined];
  return 'values' in durations ? durations.values : [durations.min, durations.max];
}

function linksOf(count: number): string[] {
  return Array.from({ length: count }, () => LINK);
}

function plain(inputImages: string[], name: string): Images {
  const names = { ratio: 'size', resolution: 'resolution', audio: 'metadata.audio', inputImages: name };
  return { inputImages, names };
}
