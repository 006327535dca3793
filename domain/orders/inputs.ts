// The input images and videos of an order: how many there may be, and what a video's images are for.
import type { ImageRole, Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import type { FieldNames, OrderInput } from './order.ts';

export interface OrderedInputs {
  inputImages: number;
  imageRole: ImageRole;
  inputVideos: number;
  inputVideoSeconds: number;
}

/** Counts only. Throws a GatewayError that names the field and what the model takes. */
export function checkInputs(model: Model, wishes: OrderInput, names: FieldNames): OrderedInputs {
  const { inputVideosMax = 0, inputVideoSecondsMax = 0, inputVideoSecondsTotalMax = Infinity } = model.limits;
  const inputVideos = wishes.inputVideos?.length ?? 0;
  if (inputVideos > inputVideosMax)
    throw refuse('video_urls', model, count(0, inputVideosMax, 'input videos'));
  const inputImages = wishes.inputImages.length;
  if (model.limits.inputImagesAsUrls && wishes.inputImages.some((image) => /^data:/i.test(image)))
    throw refuse(names.inputImages, model, 'https URLs and no data URIs');
  return {
    inputImages,
    imageRole: roleOf(model, inputImages, names.inputImages),
    inputVideos,
    inputVideoSeconds: Math.min(inputVideos * inputVideoSecondsMax, inputVideoSecondsTotalMax),
  };
}

/** One image is the first frame and two are the first and the last one, where the model has such; else references. */
function roleOf(model: Model, images: number, param: string): ImageRole {
  const { inputImagesMin = 0, inputImagesMax = 0 } = model.limits;
  if (images < inputImagesMin || images > inputImagesMax)
    throw refuse(param, model, count(inputImagesMin, inputImagesMax, 'input images'));
  if (images === 0) return 'none';
  if (model.kind !== 'video') return 'references';
  const { frameImagesMax = 1, referenceImagesMax = 0 } = model.limits;
  if (param !== 'reference_images' && images <= frameImagesMax)
    return images === 1 ? 'first_frame' : 'first_and_last_frame';
  if (images <= referenceImagesMax) return 'references';
  throw refuse(param, model, describeImages(frameImagesMax, referenceImagesMax));
}

function describeImages(frames: number, references: number): string {
  const asFrames = ['no frames', 'a first frame', 'a first and a last frame'][frames] ?? 'frames';
  return `${asFrames} in image_urls and ${count(0, references, 'reference_images')}`;
}

function count(min: number, max: number, what: string): string {
  if (max === 0) return `no ${what}`;
  return min === 0 ? `at most ${max} ${what}` : `${min} to ${max} ${what}`;
}

function refuse(param: string, model: Model, takes: string): GatewayError {
  return new GatewayError('invalid_value', { param, message: `${param}: ${model.id} takes ${takes}.` });
}
