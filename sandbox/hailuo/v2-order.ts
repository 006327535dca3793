/** What MiniMax's second video API accepts; everything else is refused, naming the field. */

import type { Call } from '../dialect.ts';
import {
  isHttpsUrl,
  isImageDataUri,
  refuseField,
  refuseUnknown,
  requireOneOf,
  requireText,
  requireWhole,
} from '../field-checks.ts';
import { type Fields, isFields } from '../requests.ts';

export interface SecondOrder {
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

export function checkSecondOrder(call: Call, fields: Fields): SecondOrder {
  refuseUnknown(call, fields, FIELDS);
  const model = requireOneOf(call, 'model', fields['model'], Object.keys(MODELS));
  const { resolutions, secondsMin } = MODELS[model] ?? { resolutions: [], secondsMin: 0 };
  requireText(call, 'content', promptOf(fields), PROMPT_CHARACTERS_MAX);
  const roles = checkContent(call, contentIn(fields));
  const ratio = requireOneOf(call, 'ratio', fields['ratio'] ?? 'adaptive', RATIOS);
  if (roles.length === 0 && ratio === 'adaptive')
    refuseField(call, 'ratio', 'Text alone needs a concrete ratio.');
  const bounds = { min: secondsMin, max: SECONDS_MAX };
  return {
    model,
    seconds: requireWhole(call, 'duration', fields['duration'] ?? 5, bounds),
    resolution: requireOneOf(call, 'resolution', fields['resolution'] ?? resolutions[0], resolutions),
    ratio: ratio === 'adaptive' ? '16:9' : ratio,
    inputImages: roles.filter((role) => !/video|audio/.test(role)).length,
    inputVideos: roles.filter((role) => role === 'reference_video').length,
  };
}

/** The roles of everything but the text. */
function checkContent(call: Call, content: readonly Fields[]): string[] {
  const media = content.filter(({ type }) => type !== 'text');
  const roles = media.map((item) => checkItem(call, item, `content[${content.indexOf(item)}]`));
  for (const [role, max] of Object.entries(EACH_MAX)) {
    if (roles.filter((candidate) => candidate === role).length > max)
      refuseField(call, 'content', `There are at most ${max} of ${role}.`);
  }
  const isFrame = (role: string): boolean => role.endsWith('_frame');
  if (roles.some(isFrame) && !roles.every(isFrame))
    refuseField(call, 'content', 'Frames and references cannot be used together.');
  if (roles.length > 0 && roles.every((role) => role === 'reference_audio'))
    refuseField(call, 'content', 'Audio needs a reference image or video.');
  return roles;
}

function checkItem(call: Call, item: Fields, field: string): string {
  const type = requireOneOf(call, `${field}.type`, item['type'], Object.keys(ROLES));
  const source = item[type];
  const url = isFields(source) ? source['url'] : undefined;
  const isFile = typeof url === 'string' && url.startsWith('mm_file://');
  if (!isHttpsUrl(url) && !isFile && !(type === 'image_url' && isImageDataUri(url)))
    refuseField(call, `${field}.${type}.url`, 'A https URL, a data URI or a file is required.');
  return requireOneOf(call, `${field}.role`, item['role'] ?? ROLES[type]?.[0], ROLES[type] ?? []);
}

function contentIn(fields: Fields): readonly Fields[] {
  const { content } = fields;
  return Array.isArray(content) ? content.map((item) => (isFields(item) ? item : {})) : [];
}
