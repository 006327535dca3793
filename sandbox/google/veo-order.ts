// Checks an order of a Veo video on either of Google's services: refuses what Google would not accept.

import {
  isBareBase64,
  refuseField,
  refuseUnknown,
  requireOneOf,
  requireText,
  requireWhole,
} from '../field-checks.ts';
import { type Fields, isFields, refuse, textIn } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { wordUnknownField } from './unknown-field.ts';

export const GEMINI_PARAMETERS =
  'aspectRatio resolution durationSeconds personGeneration negativePrompt sampleCount enhancePrompt'.split(
    ' ',
  );
export const VERTEX_PARAMETERS = [
  ...GEMINI_PARAMETERS,
  ...['seed', 'generateAudio', 'storageUri', 'compressionQuality', 'fps', 'resizeMode', 'pubsubTopic'],
];

export interface VeoOrder {
  readonly model: string;
  readonly durationSeconds: number;
  readonly resolution: string;
  readonly aspectRatio: string;
  readonly generateAudio: boolean;
  readonly inputImages: number;
}

/** Releases and previews, both at both services: one has ended the previews, but resellers sell them. */
const MODELS = ['veo-3.1', 'veo-3.1-fast', 'veo-3.1-lite'].flatMap((model) => [
  `${model}-generate-001`,
  `${model}-generate-preview`,
]);
const RATIOS = ['16:9', '9:16'];
const RESOLUTIONS = ['720p', '1080p', '4k'];
const DURATIONS = [4, 6, 8];
const LONGEST_DURATION = 8;
const REFERENCE_IMAGES_MAX = 3;
const PROMPT_CHARACTERS_MAX = 20_000;
const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/webp'];

const INSTANCE_FIELDS = ['prompt', 'image', 'lastFrame', 'referenceImages', 'video'];

export function promptOf(fields: Fields): string {
  return textIn(instanceOf(fields), 'prompt');
}

/** `parameters` are the names that this service knows. */
export function checkVeoOrder(
  request: SandboxRequest,
  model: string,
  fields: Fields,
  parameters: readonly string[],
): VeoOrder {
  if (!MODELS.includes(model)) refuse(request, 404);
  refuseUnknown(request, fields, ['instances', 'parameters', 'labels'], '', wordUnknownField);
  const instance = instanceOf(fields);
  refuseUnknown(request, instance, INSTANCE_FIELDS, 'instances[0].', wordUnknownField);
  const given = isFields(fields['parameters']) ? fields['parameters'] : {};
  refuseUnknown(request, given, parameters, 'parameters.', wordUnknownField);
  requireText(request, 'instances[0].prompt', instance['prompt'], PROMPT_CHARACTERS_MAX);
  const inputImages = checkImages(request, model, instance);
  const { resolution: givenResolution = '720p', aspectRatio = '16:9', generateAudio = true } = given;
  const sampleCountMax = parameters === VERTEX_PARAMETERS ? 4 : 1;
  requireWhole(request, 'sampleCount', given['sampleCount'] ?? 1, { min: 1, max: sampleCountMax });
  const resolutions = isLite(model) ? ['720p', '1080p'] : RESOLUTIONS;
  const resolution = requireOneOf(request, 'resolution', givenResolution, resolutions);
  const needsLongest = resolution !== '720p' || instance['referenceImages'] !== undefined;
  return {
    model,
    durationSeconds: durationOf(request, given['durationSeconds'] ?? LONGEST_DURATION, needsLongest),
    resolution,
    aspectRatio: requireOneOf(request, 'aspectRatio', aspectRatio, RATIOS),
    generateAudio: generateAudio !== false,
    inputImages,
  };
}

/** Accepts a text that is a number as well. */
function durationOf(request: SandboxRequest, value: unknown, needsLongest: boolean): number {
  const seconds = typeof value === 'string' ? Number(value) : value;
  const allowed = needsLongest ? [LONGEST_DURATION] : DURATIONS;
  const found = allowed.find((candidate) => candidate === seconds);
  const message = `durationSeconds must be one of ${allowed.join(', ')} for this request.`;
  return found ?? refuseField(request, 'durationSeconds', message);
}

function checkImages(request: SandboxRequest, model: string, instance: Fields): number {
  const { image, lastFrame, referenceImages } = instance;
  for (const [field, value] of Object.entries({ image, lastFrame }))
    if (value !== undefined) checkImage(request, `instances[0].${field}`, value);
  if (lastFrame !== undefined && image === undefined)
    refuseField(request, 'instances[0].lastFrame', 'lastFrame needs an image for the first frame.');
  const frames = [image, lastFrame].filter((value) => value !== undefined).length;
  return (
    frames + (referenceImages === undefined ? 0 : checkReferences(request, model, frames, referenceImages))
  );
}

function checkReferences(request: SandboxRequest, model: string, frames: number, value: unknown): number {
  const field = 'instances[0].referenceImages';
  if (isLite(model)) refuseField(request, field, 'This model takes no reference images.');
  if (frames > 0) refuseField(request, field, 'Reference images cannot be combined with frames.');
  if (!Array.isArray(value) || value.length === 0 || value.length > REFERENCE_IMAGES_MAX)
    return refuseField(request, field, `There may be 1 to ${REFERENCE_IMAGES_MAX} reference images.`);
  for (const entry of value) {
    const { image, referenceType } = isFields(entry) ? entry : {};
    requireOneOf(request, `${field}.referenceType`, referenceType, ['asset', 'ASSET']);
    checkImage(request, `${field}.image`, image);
  }
  return value.length;
}

/** Accepts no links but those to Google's own storage. */
function checkImage(request: SandboxRequest, field: string, value: unknown): void {
  const { bytesBase64Encoded, gcsUri, mimeType } = isFields(value) ? value : {};
  requireOneOf(request, `${field}.mimeType`, mimeType, IMAGE_TYPES);
  const isInStorage = typeof gcsUri === 'string' && gcsUri.startsWith('gs://');
  if (!isInStorage && !isBareBase64(bytesBase64Encoded))
    refuseField(request, field, `${field} needs bytesBase64Encoded or a gcsUri.`);
}

function isLite(model: string): boolean {
  return model.includes('-lite-');
}

function instanceOf(fields: Fields): Fields {
  const { instances } = fields;
  const [first] = Array.isArray(instances) ? (instances as unknown[]) : [];
  return isFields(first) ? first : {};
}
