// Checks an order of MiniMax's v1 video API: refuses what the vendor would not accept and names the field.

import {
  isHttpsUrl,
  isImageDataUri,
  refuseField,
  refuseUnknown,
  requireOneOf,
  requireText,
} from '../field-checks.ts';
import { checkImageFile } from '../image-files.ts';
import type { Fields } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';

export interface HailuoV1Order {
  readonly model: string;
  readonly seconds: number;
  readonly resolution: string;
  readonly inputImages: number;
}

const FAST_MODEL = 'MiniMax-Hailuo-2.3-Fast';
const OLDER_MODEL = 'MiniMax-Hailuo-02';
const MODELS = ['MiniMax-Hailuo-2.3', FAST_MODEL, OLDER_MODEL];
const PROMPT_CHARACTERS_MAX = 2000;
const IMAGE_FILES = { bytesMax: 20_000_000, sidePixelsMin: 300, sidesRatioMax: 2.5 };
const FIELDS = (
  'model prompt prompt_optimizer fast_pretreatment duration resolution first_frame_image last_frame_image ' +
  'callback_url aigc_watermark'
).split(' ');

export function checkV1Order(request: SandboxRequest, fields: Fields): HailuoV1Order {
  refuseUnknown(request, fields, FIELDS);
  const model = requireOneOf(request, 'model', fields['model'], MODELS);
  requireText(request, 'prompt', fields['prompt'], PROMPT_CHARACTERS_MAX);
  const images = ['first_frame_image', 'last_frame_image'].filter((field) => fields[field] !== undefined);
  for (const field of images) {
    if (!isHttpsUrl(fields[field]) && !isImageDataUri(fields[field]))
      refuseField(request, field, `${field} must be a URL or a data URI.`);
    checkImageFile(request, field, fields[field], IMAGE_FILES);
  }
  const resolution = requireOneOf(request, 'resolution', fields['resolution'] ?? '768P', [
    '512P',
    '768P',
    '1080P',
  ]);
  const seconds = Number(fields['duration'] ?? 6);
  if (fields['duration'] !== undefined && typeof fields['duration'] !== 'number')
    refuseField(request, 'duration', 'duration must be a number.');
  if (seconds !== 6 && (seconds !== 10 || resolution === '1080P'))
    refuseField(request, 'duration', `duration ${seconds} is not available at ${resolution}.`);
  checkImages(request, { model, resolution, images });
  return { model, seconds, resolution, inputImages: images.length };
}

function checkImages(
  request: SandboxRequest,
  { model, resolution, images }: { model: string; resolution: string; images: readonly string[] },
): void {
  const needsImage = model === FAST_MODEL || resolution === '512P';
  if (resolution === '512P' && model !== OLDER_MODEL)
    refuseField(request, 'resolution', 'This model does not make 512P.');
  if ((needsImage || images.length > 0) && images[0] !== 'first_frame_image')
    refuseField(request, 'first_frame_image', 'first_frame_image is required here.');
  if (images.length > 1 && (model !== OLDER_MODEL || resolution === '512P'))
    refuseField(request, 'last_frame_image', 'last_frame_image is not available here.');
}
