// Checks an order of Kling's flat API: refuses what the vendor would not accept and names the field.

import {
  checkLength,
  isBareBase64,
  isHttpsUrl,
  refuseField,
  refuseUnknown,
  requireOneOf,
  requireText,
} from '../field-checks.ts';
import { checkImageFile } from '../image-files.ts';
import type { Fields } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { IMAGE_FILES } from './image-files.ts';
import type { KlingOrder } from './tasks.ts';

const MODELS = ['kling-v2-5-turbo', 'kling-v2-6'];
const RESOLUTIONS = { std: '720p', pro: '1080p' } as const;
const RATIOS = ['16:9', '9:16', '1:1'];
const PROMPT_CHARACTERS_MAX = 2500;
const COMMON =
  'model_name prompt negative_prompt mode duration sound callback_url external_task_id watermark_info';
const FIELDS = {
  text2video: `${COMMON} aspect_ratio`.split(' '),
  image2video: `${COMMON} image image_tail`.split(' '),
} as const;

export function checkLegacyOrder(
  request: SandboxRequest,
  kind: 'text2video' | 'image2video',
  fields: Fields,
): KlingOrder {
  refuseUnknown(request, fields, FIELDS[kind]);
  const model = requireOneOf(request, 'model_name', fields['model_name'], MODELS);
  if (kind === 'text2video') requireText(request, 'prompt', fields['prompt'], PROMPT_CHARACTERS_MAX);
  checkLength(request, 'negative_prompt', fields['negative_prompt'], PROMPT_CHARACTERS_MAX);
  const mode = requireOneOf(request, 'mode', fields['mode'] ?? 'std', Object.keys(RESOLUTIONS));
  const audio = checkSound(request, fields, model, mode);
  const { external_task_id: externalId } = fields;
  return {
    model,
    seconds: Number(requireOneOf(request, 'duration', fields['duration'] ?? '5', ['5', '10'])),
    resolution: mode === 'pro' ? RESOLUTIONS.pro : RESOLUTIONS.std,
    ratio: requireOneOf(request, 'aspect_ratio', fields['aspect_ratio'] ?? '16:9', RATIOS),
    audio,
    inputImages: kind === 'image2video' ? checkImages(request, fields, mode, audio) : 0,
    inputVideos: 0,
    externalId: typeof externalId === 'string' && externalId !== '' ? externalId : null,
  };
}

function checkSound(request: SandboxRequest, fields: Fields, model: string, mode: string): boolean {
  if (fields['sound'] === undefined) return false;
  if (model !== 'kling-v2-6') refuseField(request, 'sound', 'This model has no sound.');
  const audio = requireOneOf(request, 'sound', fields['sound'], ['on', 'off']) === 'on';
  if (audio && mode !== 'pro') refuseField(request, 'sound', 'Sound needs the mode pro.');
  return audio;
}

/** A last frame goes with the mode pro, and at 2.6 without sound (the vendor's capability map). */
function checkImages(request: SandboxRequest, fields: Fields, mode: string, audio: boolean): number {
  const given = ['image', 'image_tail'].filter((field) => fields[field] !== undefined);
  if (given[0] !== 'image') refuseField(request, 'image', 'image is required.');
  for (const field of given) {
    if (!isHttpsUrl(fields[field]) && !isBareBase64(fields[field]))
      refuseField(request, field, `${field} must be a URL or base64 without a data: prefix.`);
    checkImageFile(request, field, fields[field], IMAGE_FILES);
  }
  if (given.length === 2 && (mode !== 'pro' || audio))
    refuseField(request, 'image_tail', 'A last frame needs the mode pro, and no sound.');
  return given.length;
}
