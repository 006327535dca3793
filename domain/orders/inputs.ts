// The input images and videos of an order: how many there may be, and what a video's images are for.
import type { ImageRole, Model } from '../catalog/catalog.ts';
import { GatewayError } from '../errors.ts';
import type { MediaOrderInput } from './order.ts';
import { invalidValue } from './refusals.ts';

export interface OrderedInputs {
  inputImages: number;
  imageRole: ImageRole;
  inputVideos: number;
  inputVideoSeconds: number;
}

/** The name under which frames are ordered one by one. */
const FRAMES_PARAM = 'metadata.first_frame';

/**
 * Counts the inputs and does not read them. Throws a GatewayError that names the field and what the model
 * takes.
 */
export function checkInputs(model: Model, input: MediaOrderInput): OrderedInputs {
  const { inputVideosMax = 0, inputVideoSecondsMax = 0, inputVideoSecondsTotalMax = Infinity } = model.limits;
  const { names } = input;
  const inputVideos = input.inputVideos?.length ?? 0;
  if (inputVideos > inputVideosMax)
    throw notTaken('video_urls', model, countText(0, inputVideosMax, 'input videos'));
  const inputImages = input.inputImages.length;
  if (model.limits.inputImagesAsUrls && input.inputImages.some((image) => /^data:/i.test(image)))
    throw notTaken(names.inputImages, model, 'https URLs and no data URIs');
  return {
    inputImages,
    imageRole: input.imageRole
      ? checkRole(model, input.imageRole, inputImages)
      : roleOf(model, inputImages, names.inputImages),
    inputVideos,
    inputVideoSeconds: Math.min(inputVideos * inputVideoSecondsMax, inputVideoSecondsTotalMax),
  };
}

/**
 * One image is the first frame and two are the first and the last one, where the model has such; else
 * references.
 */
function roleOf(model: Model, images: number, param: string): ImageRole {
  const { inputImagesMin = 0, inputImagesMax = 0 } = model.limits;
  if (images < inputImagesMin || images > inputImagesMax)
    throw notTaken(param, model, countText(inputImagesMin, inputImagesMax, 'input images'));
  if (images === 0) return 'none';
  if (model.kind !== 'video') return 'references';
  const { frameImagesMax = 1, referenceImagesMax = 0 } = model.limits;
  if (param !== 'reference_images' && images <= frameImagesMax)
    return images === 1 ? 'first_frame' : 'first_and_last_frame';
  if (param !== FRAMES_PARAM && images <= referenceImagesMax) return 'references';
  throw notTaken(param, model, describeImages(frameImagesMax, referenceImagesMax));
}

/** A last frame without a first one, or a first frame beside references: both need a model that has it. */
function checkRole(model: Model, role: NonNullable<MediaOrderInput['imageRole']>, images: number): ImageRole {
  const { lastFrameAlone, frameBesideReferences, inputImagesMax = 0, referenceImagesMax = 0 } = model.limits;
  if (role === 'last_frame') {
    if (lastFrameAlone) return role;
    const message = `${FRAMES_PARAM} is required beside metadata.last_frame: ${model.id} needs both.`;
    throw new GatewayError('missing_field', { param: FRAMES_PARAM, message });
  }
  if (!frameBesideReferences) {
    const message = `${model.id} takes either reference_images or frames; send one of them.`;
    throw new GatewayError('conflicting_params', { param: FRAMES_PARAM, message });
  }
  const references = Math.min(referenceImagesMax, inputImagesMax - 1);
  if (images - 1 > references)
    throw notTaken(
      'reference_images',
      model,
      countText(1, references, 'reference images beside a first frame'),
    );
  return role;
}

function describeImages(frames: number, references: number): string {
  const asFrames = ['no frames', 'a first frame', 'a first and a last frame'][frames] ?? 'frames';
  return `${asFrames} in image_urls and ${countText(0, references, 'reference_images')}`;
}

function countText(min: number, max: number, what: string): string {
  if (max === 0) return `no ${what}`;
  return min === 0 ? `at most ${max} ${what}` : `${min} to ${max} ${what}`;
}

function notTaken(param: string, model: Model, takes: string): GatewayError {
  return invalidValue(param, `${param}: ${model.id} takes ${takes}.`);
}
