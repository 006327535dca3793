// Checks an order of MiniMax's v2 video API: refuses what the vendor would not accept and names the field.

import {
  isHttpsUrl,
  isImageDataUri,
  refuseField,
  refuseUnknown,
  requireOneOf,
  requireText,
  requireWhole,
} from '../field-checks.ts';
import { checkImageFile } from '../image-files.ts';
import { type Fields, isFields } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';

export interface HailuoV2Order {
  readonly model: string;
  readonly seconds: number;
  readonly resolution: string;
  readonly ratio: string;
  readonly inputImages: number;
  readonly inputVideos: number;
}

const MODELS: Readonly<Record<string, { resolutions: readonly string[]; secondsMin: number }>> = {
  'MiniMax-H3': { resolutions: ['768P', '2K'], secondsMin: 4 },
  'MiniMax-H3-Max': { resolutions: ['480P', '768P'], secondsMin: 5 },
};
const RATIOS = ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];
const SECONDS_MAX = 15;
const PROMPT_CHARACTERS_MAX = 7000;
const IMAGE_FILES = { bytesMax: 30_000_000, sidePixelsMin: 256, sidesRatioMax: 2.5 };
const FIELDS = 'model content resolution duration ratio callback_url aigc_watermark extra'.split(' ');
const ROLES: Readonly<Record<string, readonly string[]>> = {
  image_url: ['first_frame', 'last_frame', 'reference_image'],
  video_url: ['reference_video'],
  audio_url: ['reference_audio'],
};
const EACH_MAX: Readonly<Record<string, number>> = {
  first_frame: 1,
  last_frame: 1,
  reference_image: 9,
  reference_video: 3,
  reference_audio: 3,
};

export function promptOf(fields: Fields): string {
  const text = contentIn(fields).find(({ type }) => type === 'text')?.['text'];
  return typeof text === 'string' ? text : '';
}

export function checkV2Order(request: SandboxRequest, fields: Fields): HailuoV2Order {
  refuseUnknown(request, fields, FIELDS);
  const model = requireOneOf(request, 'model', fields['model'], Object.keys(MODELS));
  const { resolutions, secondsMin } = MODELS[model] ?? { resolutions: [], secondsMin: 0 };
  requireText(request, 'content', promptOf(fields), PROMPT_CHARACTERS_MAX);
  const roles = checkContent(request, contentIn(fields));
  if (model !== 'MiniMax-H3') checkMaxModel(request, fields, roles);
  const ratio = requireOneOf(request, 'ratio', fields['ratio'] ?? 'adaptive', RATIOS);
  if (roles.length === 0 && ratio === 'adaptive')
    refuseField(request, 'ratio', 'Text alone needs a concrete ratio.');
  const bounds = { min: secondsMin, max: SECONDS_MAX };
  return {
    model,
    seconds: requireWhole(request, 'duration', fields['duration'] ?? 5, bounds),
    resolution: requireOneOf(request, 'resolution', fields['resolution'] ?? resolutions[0], resolutions),
    ratio: ratio === 'adaptive' ? '16:9' : ratio,
    inputImages: roles.filter((role) => !/video|audio/.test(role)).length,
    inputVideos: roles.filter((role) => role === 'reference_video').length,
  };
}

/** H3-Max begins with a frame or with words alone, and has no mark. */
function checkMaxModel(request: SandboxRequest, fields: Fields, roles: readonly string[]): void {
  if (roles.some((role) => role.startsWith('reference_')))
    refuseField(request, 'content', 'This model takes no references.');
  if (roles.includes('last_frame') && !roles.includes('first_frame'))
    refuseField(request, 'content', 'A last frame needs a first frame.');
  if (fields['aigc_watermark'] !== undefined)
    refuseField(request, 'aigc_watermark', 'This model takes no aigc_watermark.');
}

/** Returns the role of each part that is not text. */
function checkContent(request: SandboxRequest, content: readonly Fields[]): string[] {
  const media = content.filter(({ type }) => type !== 'text');
  const roles = media.map((item) => checkItem(request, item, `content[${content.indexOf(item)}]`));
  for (const [role, max] of Object.entries(EACH_MAX)) {
    if (roles.filter((candidate) => candidate === role).length > max)
      refuseField(request, 'content', `There are at most ${max} of ${role}.`);
  }
  const isFrame = (role: string): boolean => role.endsWith('_frame');
  if (roles.some(isFrame) && !roles.every(isFrame))
    refuseField(request, 'content', 'Frames and references cannot be used together.');
  if (roles.length > 0 && roles.every((role) => role === 'reference_audio'))
    refuseField(request, 'content', 'Audio needs a reference image or video.');
  return roles;
}

function checkItem(request: SandboxRequest, item: Fields, field: string): string {
  const type = requireOneOf(request, `${field}.type`, item['type'], Object.keys(ROLES));
  const source = item[type];
  const url = isFields(source) ? source['url'] : undefined;
  const isFile = typeof url === 'string' && url.startsWith('mm_file://');
  if (!isHttpsUrl(url) && !isFile && !(type === 'image_url' && isImageDataUri(url)))
    refuseField(request, `${field}.${type}.url`, 'A https URL, a data URI or a file is required.');
  if (type === 'image_url') checkImageFile(request, `${field}.${type}.url`, url, IMAGE_FILES);
  return requireOneOf(request, `${field}.role`, item['role'] ?? ROLES[type]?.[0], ROLES[type] ?? []);
}

function contentIn(fields: Fields): readonly Fields[] {
  const { content } = fields;
  return Array.isArray(content) ? content.map((item) => (isFields(item) ? item : {})) : [];
}
