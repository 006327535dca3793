// Checks an order at one of Vidu's endpoints: refuses what the vendor would not accept and names the field.

import { isWholeWithin } from '../field-checks.ts';
import { checkImageFile } from '../image-files.ts';
import { countCodePoints, type Fields, refuse } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';

export type Endpoint = 'text2video' | 'img2video' | 'start-end2video' | 'reference2video';

export interface ViduOrder {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly duration: number;
  readonly resolution: string;
  /** Empty where the input images determine it. */
  readonly aspectRatio: string;
  readonly audio: boolean;
  readonly images: number;
  readonly offPeak: boolean;
}

interface EndpointLimits {
  readonly models: readonly string[];
  readonly images: { readonly min: number; readonly max: number };
  /** Names of fields beyond COMMON_FIELDS. */
  readonly fields: readonly string[];
}

const FRAME_MODELS = ['viduq3-pro', 'viduq3-turbo', 'viduq2-pro', 'viduq2-turbo', 'viduq1', 'vidu2.0'];
const LIMITS: Readonly<Record<Endpoint, EndpointLimits>> = {
  text2video: {
    models: ['viduq4-preview', 'viduq3-pro', 'viduq3-turbo', 'viduq2', 'viduq1'],
    images: { min: 0, max: 0 },
    fields: ['aspect_ratio', 'style'],
  },
  img2video: {
    models: [...FRAME_MODELS, 'viduq4-preview', 'viduq3-pro-fast', 'viduq2-pro-fast', 'viduq1-classic'],
    images: { min: 1, max: 1 },
    fields: ['images'],
  },
  'start-end2video': {
    models: [...FRAME_MODELS, 'viduq1-classic'],
    images: { min: 2, max: 2 },
    fields: ['images'],
  },
  reference2video: {
    models: [
      'viduq4-preview',
      'viduq3',
      'viduq3-mix',
      'viduq3-turbo',
      'viduq3-drama',
      'viduq3-ad',
      'viduq2',
      'viduq1',
    ],
    images: { min: 1, max: 15 },
    fields: ['images', 'subjects', 'aspect_ratio'],
  },
};
const COMMON_FIELDS = (
  'model prompt duration resolution seed audio bgm movement_amplitude off_peak watermark wm_position wm_url ' +
  'payload meta_data callback_url'
).split(' ');

const PROMPT_CHARACTERS_MAX = 5000;
const IMAGE_FILES = { sidesRatioMax: 4 };
const RESOLUTIONS = ['540p', '720p', '1080p'];
const ASPECT_RATIOS = ['16:9', '9:16', '3:4', '4:3', '1:1'];
const DURATION_BY_DEFAULT = 5;
/** References of models before Q4, which takes as many as its endpoint. */
const REFERENCES_MAX_BEFORE_4 = 7;
/** Resolutions of models that do not have all of RESOLUTIONS. */
const RESOLUTIONS_BY_MODEL: Readonly<Record<string, readonly string[]>> = {
  'viduq3-pro-fast': ['720p', '1080p'],
  'viduq3-mix': ['720p', '1080p'],
};

export function checkViduOrder(request: SandboxRequest, fields: Fields, endpoint: Endpoint): ViduOrder {
  const limits = LIMITS[endpoint];
  const known = [...COMMON_FIELDS, ...limits.fields];
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined) refuseField(request, unknown, 'the field is unwanted here', 'FieldUnwanted');
  if (fields['model'] === undefined) refuseField(request, 'model', 'the field is lacking', 'FieldLacking');
  const model = limits.models.find((name) => name === fields['model']);
  if (model === undefined)
    return refuseField(request, 'model', 'the model is unavailable', 'ModelUnavailable');
  checkPrompt(request, fields, endpoint);
  const images = checkImages(request, fields, limits);
  if (images > REFERENCES_MAX_BEFORE_4 && !isNewest(model))
    refuseField(request, 'images', `the number of images must be within 1 and ${REFERENCES_MAX_BEFORE_4}`);
  return {
    endpoint,
    model,
    duration: durationOf(request, fields, model),
    resolution: oneOf(request, fields, 'resolution', RESOLUTIONS_BY_MODEL[model] ?? RESOLUTIONS, '720p'),
    aspectRatio: limits.fields.includes('aspect_ratio')
      ? oneOf(request, fields, 'aspect_ratio', ASPECT_RATIOS, '16:9')
      : '',
    audio: flag(request, fields, 'audio', /^viduq[34]/.test(model)),
    images,
    offPeak: flag(request, fields, 'off_peak', false),
  };
}

function checkPrompt(request: SandboxRequest, { prompt }: Fields, endpoint: Endpoint): void {
  const isNeeded = endpoint === 'text2video' || endpoint === 'reference2video';
  if (prompt === undefined && !isNeeded) return;
  if (prompt === undefined || prompt === '')
    refuseField(request, 'prompt', 'the field is lacking', 'FieldLacking');
  if (typeof prompt !== 'string' || countCodePoints(prompt) > PROMPT_CHARACTERS_MAX) {
    refuseField(request, 'prompt', `the prompt has at most ${PROMPT_CHARACTERS_MAX} characters`);
  }
}

function checkImages(
  request: SandboxRequest,
  { images }: Fields,
  { images: { min, max } }: EndpointLimits,
): number {
  const given: unknown = images ?? [];
  if (!Array.isArray(given) || given.length < min || given.length > max) {
    return refuseField(request, 'images', `the number of images must be within ${min} and ${max}`);
  }
  if (!given.every((image) => typeof image === 'string' && /^(https:\/\/|data:image\/)/.test(image))) {
    return refuseField(request, 'images', 'an image is a https URL or a data URI', 'ImageFormatInvalid');
  }
  for (const image of given) checkImageFile(request, 'images', image, IMAGE_FILES);
  return given.length;
}

function durationOf(
  request: SandboxRequest,
  { duration = DURATION_BY_DEFAULT }: Fields,
  model: string,
): number {
  const min = isNewest(model) ? 3 : 1;
  const max = /^viduq[34]/.test(model) ? 16 : 10;
  if (isWholeWithin(duration, min, max)) return duration;
  return refuseField(request, 'duration', `the duration must be within ${min} and ${max}`);
}

function isNewest(model: string): boolean {
  return model.startsWith('viduq4');
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
  return known ?? refuseField(request, field, `the value must be one of ${values.join(', ')}`);
}

function flag(request: SandboxRequest, fields: Fields, field: string, byDefault: boolean): boolean {
  const value = fields[field] ?? byDefault;
  return typeof value === 'boolean' ? value : refuseField(request, field, 'the value must be a boolean');
}

function refuseField(request: SandboxRequest, field: string, message: string, code = 'FieldInvalid'): never {
  refuse(request, 400, { field, message, code });
}
