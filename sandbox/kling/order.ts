// Checks an order of Kling's API since 3.0: refuses what the vendor would not accept and names the field.

import {
  isBareBase64,
  isHttpsUrl,
  refuseField,
  refuseUnknown,
  requireOneOf,
  requireText,
  requireWhole,
} from '../field-checks.ts';
import { checkImageFile } from '../image-files.ts';
import { type Fields, isFields, refuse } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { IMAGE_FILES } from './image-files.ts';
import type { KlingOrder } from './tasks.ts';

export type Kind = 'text-to-video' | 'image-to-video' | 'omni-video';

const MODELS: Readonly<Record<Kind, readonly string[]>> = {
  'text-to-video': ['kling-3.0', 'kling-3.0-turbo'],
  'image-to-video': ['kling-3.0', 'kling-3.0-turbo'],
  'omni-video': ['kling-3.0-omni'],
};
const CONTENT_TYPES: Readonly<Record<Kind, readonly string[]>> = {
  'text-to-video': [],
  'image-to-video': ['prompt', 'first_frame', 'last_frame'],
  'omni-video': ['prompt', 'first_frame', 'last_frame', 'refer_image', 'feature_video', 'base_video'],
};
const RATIOS = ['16:9', '9:16', '1:1'];
const PROMPT_CHARACTERS_MAX = 2500;
/** Of kling-3.0 alone. */
const PROMPT_CHARACTERS_MAX_3_0 = 3072;
const REFERENCE_IMAGES_MAX = 7;
/** Images beside an input video. */
const IMAGES_BESIDE_VIDEO_MAX = 4;

/** The prompt, which is a field of its own or one of the contents; empty where there is none. */
export function promptOf(fields: Fields): string {
  const prompt = fields['prompt'] ?? contentsIn(fields).find(({ type }) => type === 'prompt')?.['text'];
  return typeof prompt === 'string' ? prompt : '';
}

export function checkOrder(request: SandboxRequest, kind: Kind, fields: Fields): KlingOrder {
  const model = request.parameters['model'] ?? '';
  if (!MODELS[kind].includes(model)) refuse(request, 404);
  const isText = kind === 'text-to-video';
  refuseUnknown(
    request,
    fields,
    isText ? ['prompt', 'settings', 'options'] : ['contents', 'settings', 'options'],
  );
  const charactersMax = model === 'kling-3.0' ? PROMPT_CHARACTERS_MAX_3_0 : PROMPT_CHARACTERS_MAX;
  requireText(request, 'prompt', promptOf(fields), charactersMax);
  const settings = isFields(fields['settings']) ? fields['settings'] : {};
  const options = isFields(fields['options']) ? fields['options'] : {};
  refuseUnknown(
    request,
    settings,
    ['resolution', 'aspect_ratio', 'duration', 'audio', 'multi_shot'],
    'settings.',
  );
  refuseUnknown(request, options, ['callback_url', 'external_task_id', 'watermark_info'], 'options.');
  const inputs = checkContents(request, kind, model, contentsIn(fields));
  checkShots(request, settings['multi_shot'], contentsIn(fields));
  const { external_task_id: externalId } = options;
  return {
    model,
    ...inputs,
    seconds: requireWhole(request, 'settings.duration', settings['duration'] ?? 5, { min: 3, max: 15 }),
    resolution: checkResolution(request, model, settings['resolution'] ?? '720p'),
    ratio: requireOneOf(request, 'settings.aspect_ratio', settings['aspect_ratio'] ?? '16:9', RATIOS),
    audio: checkAudio(request, model, settings['audio'], inputs.inputVideos),
    externalId: typeof externalId === 'string' && externalId !== '' ? externalId : null,
  };
}

function checkResolution(request: SandboxRequest, model: string, value: unknown): KlingOrder['resolution'] {
  if (value === '720p' || value === '1080p') return value;
  if (value === '4k' && !model.endsWith('-turbo')) return value;
  return refuseField(request, 'settings.resolution', 'This resolution is not available here.');
}

function checkAudio(request: SandboxRequest, model: string, value: unknown, inputVideos: number): boolean {
  const isTurbo = model.endsWith('-turbo');
  if (value === undefined) return isTurbo;
  const audio = requireOneOf(request, 'settings.audio', value, ['native', 'original', 'off']) === 'native';
  if (isTurbo && !audio) refuseField(request, 'settings.audio', 'This model always has sound.');
  if (audio && inputVideos > 0)
    refuseField(request, 'settings.audio', 'With an input video there is no sound.');
  return audio;
}

function checkContents(request: SandboxRequest, kind: Kind, model: string, contents: readonly Fields[]) {
  const count = (...types: string[]): number =>
    contents.filter(({ type }) => types.includes(String(type))).length;
  for (const [index, content] of contents.entries()) {
    const field = `contents[${index}]`;
    const type = requireOneOf(request, `${field}.type`, content['type'], CONTENT_TYPES[kind]);
    if (type !== 'prompt') checkUrl(request, `${field}.url`, content['url'], !type.endsWith('_video'));
  }
  if (kind === 'image-to-video' && count('first_frame') !== 1)
    refuseField(request, 'contents', 'One first_frame is required.');
  if (count('first_frame') > 1 || count('last_frame') > count('first_frame'))
    refuseField(request, 'contents', 'A last_frame needs a first_frame, and there is one of each at most.');
  const inputVideos = count('feature_video', 'base_video');
  if (inputVideos > 1) refuseField(request, 'contents', 'There is one video at most.');
  const references = count('refer_image');
  if (references > REFERENCE_IMAGES_MAX)
    refuseField(request, 'contents', `There are at most ${REFERENCE_IMAGES_MAX} reference images.`);
  if (inputVideos > 0 && count('first_frame', 'last_frame') + references > IMAGES_BESIDE_VIDEO_MAX)
    refuseField(request, 'contents', `There are at most ${IMAGES_BESIDE_VIDEO_MAX} images beside a video.`);
  if (model.endsWith('-turbo') && count('last_frame') > 0)
    refuseField(request, 'contents', 'This model takes a first frame only.');
  return { inputImages: count('first_frame', 'last_frame') + references, inputVideos };
}

function checkShots(request: SandboxRequest, value: unknown, contents: readonly Fields[]): void {
  const hasFeature = contents.some(({ type }) => type === 'feature_video');
  if (hasFeature && value !== true)
    refuseField(request, 'settings.multi_shot', 'multi_shot must be true with a feature video.');
}

function checkUrl(request: SandboxRequest, field: string, value: unknown, isBase64Allowed: boolean): void {
  if (isBase64Allowed && isBareBase64(value)) return checkImageFile(request, field, value, IMAGE_FILES);
  if (isHttpsUrl(value)) return;
  refuseField(
    request,
    field,
    isBase64Allowed ? 'A URL or base64 without a data: prefix is required.' : 'A URL is required.',
  );
}

function contentsIn(fields: Fields): readonly Fields[] {
  const { contents } = fields;
  return Array.isArray(contents) ? contents.map((content) => (isFields(content) ? content : {})) : [];
}
