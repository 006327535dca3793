/** What each endpoint of Vidu accepts; everything else is refused, naming the field. */

import { EarlyAnswer } from '../answers.ts';
import type { SandboxRequest } from '../dialect.ts';
import type { Fields } from '../requests.ts';

export type Endpoint = 'text2video' | 'img2video' | 'start-end2video' | 'reference2video';

export interface ViduOrder {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly duration: number;
  readonly resolution: string;
  /** Empty where the frames decide. */
  readonly aspectRatio: string;
  readonly audio: boolean;
  readonly images: number;
  readonly offPeak: boolean;
}

interface Terms {
  readonly models: readonly string[];
  readonly images: { readonly min: number; readonly max: number };
  /** Besides those that every endpoint knows. */
  readonly fields: readonly string[];
}

const FRAMED = ['viduq3-pro', 'viduq3-turbo', 'viduq2-pro', 'viduq2-turbo', 'viduq1', 'vidu2.0'];
const TERMS: Readonly<Record<Endpoint, Terms>> = {
  text2video: {
    models: ['viduq3-pro', 'viduq3-turbo', 'viduq2', 'viduq1'],
    images: { min: 0, max: 0 },
    fields: ['aspect_ratio', 'style'],
  },
  img2video: {
    models: [...FRAMED, 'viduq3-pro-fast', 'viduq2-pro-fast', 'viduq1-classic'],
    images: { min: 1, max: 1 },
    fields: ['images'],
  },
  'start-end2video': {
    models: [...FRAMED, 'viduq1-classic'],
    images: { min: 2, max: 2 },
    fields: ['images'],
  },
  reference2video: {
    models: ['viduq3', 'viduq3-mix', 'viduq3-turbo', 'viduq3-drama', 'viduq3-ad', 'viduq2', 'viduq1'],
    images: { min: 1, max: 7 },
    fields: ['images', 'subjects', 'aspect_ratio'],
  },
};
const COMMON_FIELDS = (
  'model prompt duration resolution seed audio bgm movement_amplitude off_peak watermark wm_position wm_url ' +
  'payload meta_data callback_url'
).split(' ');

const PROMPT_CHARACTERS_MAX = 5000;
const RESOLUTIONS = ['540p', '720p', '1080p'];
const ASPECT_RATIOS = ['16:9', '9:16', '3:4', '4:3', '1:1'];
const DURATION_BY_DEFAULT = 5;
/** Models made for large pictures. */
const RESOLUTIONS_OF: Readonly<Record<string, readonly string[]>> = {
  'viduq3-pro-fast': ['720p', '1080p'],
  'viduq3-mix': ['720p', '1080p'],
};

export function checkViduOrder(request: SandboxRequest, fields: Fields, endpoint: Endpoint): ViduOrder {
  const terms = TERMS[endpoint];
  const known = [...COMMON_FIELDS, ...terms.fields];
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined) refuse(request, unknown, 'the field is unwanted here', 'FieldUnwanted');
  if (fields['model'] === undefined) refuse(request, 'model', 'the field is lacking', 'FieldLacking');
  const model = terms.models.find((name) => name === fields['model']);
  if (model === undefined) return refuse(request, 'model', 'the model is unavailable', 'ModelUnavailable');
  checkPrompt(request, fields, endpoint);
  const images = checkImages(request, fields, terms);
  return {
    endpoint,
    model,
    duration: durationOf(request, fields, model),
    resolution: oneOf(request, fields, 'resolution', RESOLUTIONS_OF[model] ?? RESOLUTIONS, '720p'),
    aspectRatio: terms.fields.includes('aspect_ratio')
      ? oneOf(request, fields, 'aspect_ratio', ASPECT_RATIOS, '16:9')
      : '',
    audio: flag(request, fields, 'audio', model.startsWith('viduq3')),
    images,
    offPeak: flag(request, fields, 'off_peak', false),
  };
}

function checkPrompt(request: SandboxRequest, { prompt }: Fields, endpoint: Endpoint): void {
  const isNeeded = endpoint === 'text2video' || endpoint === 'reference2video';
  if (prompt === undefined && !isNeeded) return;
  if (prompt === undefined || prompt === '')
    refuse(request, 'prompt', 'the field is lacking', 'FieldLacking');
  if (typeof prompt !== 'string' || prompt.length > PROMPT_CHARACTERS_MAX) {
    refuse(request, 'prompt', `the prompt has at most ${PROMPT_CHARACTERS_MAX} characters`);
  }
}

function checkImages(request: SandboxRequest, { images }: Fields, { images: { min, max } }: Terms): number {
  const given: unknown = images ?? [];
  if (!Array.isArray(given) || given.length < min || given.length > max) {
    return refuse(request, 'images', `the number of images must be within ${min} and ${max}`);
  }
  if (!given.every((image) => typeof image === 'string' && /^(https:\/\/|data:image\/)/.test(image))) {
    return refuse(request, 'images', 'an image is a https URL or a data URI', 'ImageFormatInvalid');
  }
  return given.length;
}

function durationOf(
  request: SandboxRequest,
  { duration = DURATION_BY_DEFAULT }: Fields,
  model: string,
): number {
  const max = model.startsWith('viduq3') ? 16 : 10;
  const fits = typeof duration === 'number' && Number.isInteger(duration) && duration >= 1 && duration <= max;
  return fits ? duration : refuse(request, 'duration', `the duration must be within 1 and ${max}`);
}

function oneOf(
  request: SandboxRequest,
  fields: Fields,
  field: string,
  values: readonly string[],
  byDefault: string,
): string {
  const value = fields[field] ?? byDefault;
  const known = values.find((candidate) => candidate === value);
  return known ?? refuse(request, field, `the value must be one of ${values.join(', ')}`);
}

function flag(request: SandboxRequest, fields: Fields, field: string, byDefault: boolean): boolean {
  const value = fields[field] ?? byDefault;
  return typeof value === 'boolean' ? value : refuse(request, field, 'the value must be a boolean');
}

function refuse(request: SandboxRequest, field: string, message: string, code = 'FieldInvalid'): never {
  throw new EarlyAnswer(request.voice.refuse(400, { field, message, code }));
}
