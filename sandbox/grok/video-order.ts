// Checks an order of a Grok Imagine video: refuses what xAI would not accept and names the field.

import { isWholeWithin, refuseField, refuseUnknown, requireOneOf } from '../field-checks.ts';
import { countCodePoints, type Fields, isFields } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';

export interface VideoOrder {
  readonly model: string;
  readonly duration: number;
  readonly resolution: string;
  readonly aspectRatio: string;
  readonly inputImages: number;
  readonly generateAudio: boolean;
}

const CLASSIC = 'grok-imagine-video';
const LITE = 'grok-imagine-video-1.5-lite';
/** Only these pin frames beside references. */
const PINNING = ['grok-imagine-video-1.5', 'grok-imagine-video-1.5-preview'];
const MODELS = [CLASSIC, 'grok-imagine-video-1.5', 'grok-imagine-video-1.5-preview', LITE];
const RESOLUTIONS = ['480p', '720p', '1080p'];
const ASPECT_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '5:2'];
const PROMPT_CHARACTERS_MAX = 4096;
const DURATION_MAX = 15;
const CLASSIC_REFERENCE_DURATION_MAX = 10;
const REFERENCE_IMAGES_MAX = 7;
const REFERENCE_AUDIOS_MAX = 3;

const FIELDS = (
  'prompt model duration aspect_ratio resolution image reference_images reference_audios last_frame keyframes ' +
  'generate_audio storage_options user'
).split(' ');

export function checkVideoOrder(request: SandboxRequest, fields: Fields): VideoOrder {
  refuseUnknown(request, fields, FIELDS);
  const model = requireOneOf(request, 'model', fields['model'], MODELS);
  const references = list(request, fields, 'reference_images', REFERENCE_IMAGES_MAX);
  list(request, fields, 'reference_audios', REFERENCE_AUDIOS_MAX);
  checkPrompt(request, fields);
  const inputImages = checkImages(request, fields, references, model);
  checkModelLimits(request, fields, model, references.length > 0);
  return {
    model,
    duration: durationOf(request, fields, model === CLASSIC && references.length > 0),
    resolution: requireOneOf(request, 'resolution', fields['resolution'] ?? '480p', RESOLUTIONS),
    aspectRatio: requireOneOf(request, 'aspect_ratio', fields['aspect_ratio'] ?? '16:9', ASPECT_RATIOS),
    inputImages,
    generateAudio: fields['generate_audio'] !== false,
  };
}

function checkPrompt(request: SandboxRequest, { prompt, image }: Fields): void {
  if ((prompt === undefined || prompt === '') && image === undefined) {
    refuseField(request, 'prompt', 'A prompt is required for text-to-video.');
  }
  if (prompt !== undefined && typeof prompt !== 'string')
    refuseField(request, 'prompt', 'The prompt must be a string.');
  if (typeof prompt === 'string' && countCodePoints(prompt) > PROMPT_CHARACTERS_MAX) {
    refuseField(request, 'prompt', `The prompt is longer than ${PROMPT_CHARACTERS_MAX} characters.`);
  }
}

/** Returns the number of input images, each of which is charged. */
function checkImages(request: SandboxRequest, fields: Fields, references: unknown[], model: string): number {
  const singles = ['image', 'last_frame'].filter((field) => fields[field] !== undefined);
  for (const field of singles) {
    if (!isImage(fields[field]))
      refuseField(request, field, `${field} needs a https URL, a data URI or a file_id.`);
  }
  if (!references.every(isImage)) {
    refuseField(request, 'reference_images', 'Every reference image needs a https URL or a data URI.');
  }
  if (references.length > 0 && fields['image'] !== undefined && !PINNING.includes(model)) {
    refuseField(request, 'reference_images', 'image and reference_images cannot be combined.');
  }
  return singles.length + references.length;
}

function checkModelLimits(
  request: SandboxRequest,
  fields: Fields,
  model: string,
  hasReferences: boolean,
): void {
  if (fields['resolution'] === '1080p' && (model === CLASSIC || hasReferences)) {
    refuseField(request, 'resolution', 'This resolution is not available here.');
  }
  if (model === LITE && hasReferences)
    refuseField(request, 'reference_images', 'This model takes no references.');
  for (const field of ['last_frame', 'keyframes']) {
    if (fields[field] !== undefined && (model === CLASSIC || model === LITE)) {
      refuseField(request, field, `This model takes no ${field}.`);
    }
  }
  if (fields['generate_audio'] !== undefined && typeof fields['generate_audio'] !== 'boolean') {
    refuseField(request, 'generate_audio', 'generate_audio must be a boolean.');
  }
}

function durationOf(request: SandboxRequest, { duration }: Fields, isClassicByReference: boolean): number {
  if (duration === undefined) return 8;
  const max = isClassicByReference ? CLASSIC_REFERENCE_DURATION_MAX : DURATION_MAX;
  if (isWholeWithin(duration, 1, max)) return duration;
  return refuseField(request, 'duration', `The duration must be a whole number from 1 to ${max}.`);
}

function list(request: SandboxRequest, fields: Fields, field: string, lengthMax: number): unknown[] {
  const value = fields[field];
  if (value === undefined) return [];
  if (!Array.isArray(value)) return refuseField(request, field, `${field} must be a list.`);
  if (value.length > lengthMax) return refuseField(request, field, `${field} holds at most ${lengthMax}.`);
  return value;
}

function isImage(value: unknown): boolean {
  if (!isFields(value)) return false;
  if (typeof value['file_id'] === 'string') return value['url'] === undefined;
  return typeof value['url'] === 'string' && /^(https:\/\/|data:image\/[\w.+-]+;base64,)/.test(value['url']);
}
