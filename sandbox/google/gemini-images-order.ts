// Checks an order of Gemini's generateContent for an image model: refuses what Google would not accept.

import { isBareBase64, refuseField, refuseUnknown } from '../field-checks.ts';
import { type Fields, isFields, objectsIn, refuse } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { wordUnknownField } from './unknown-field.ts';

export interface ImageOrder {
  readonly model: string;
  readonly aspectRatio: string;
  readonly imageSize: string;
  readonly inputImages: number;
  readonly withText: boolean;
}

export interface ImageRequest {
  readonly fields: Fields;
  /** The parts of all contents. */
  readonly parts: readonly Fields[];
  readonly prompt: string;
}

interface ModelLimits {
  readonly sizes: readonly string[];
  readonly ratios: readonly string[];
  /** True: the answer shows drafts as thoughts. */
  readonly thinks: boolean;
}

const COMMON_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const FLASH_RATIOS = [...COMMON_RATIOS, '1:4', '4:1', '1:8', '8:1'];
const SIZES = ['1K', '2K', '4K'];

const MODELS: Readonly<Record<string, ModelLimits>> = {
  'gemini-nano-banana-2.1': { sizes: SIZES, ratios: FLASH_RATIOS, thinks: true },
  'gemini-3-pro-image': { sizes: SIZES, ratios: COMMON_RATIOS, thinks: true },
  'gemini-3.1-flash-lite-image': { sizes: ['1K'], ratios: FLASH_RATIOS, thinks: false },
};
const INPUT_IMAGES_MAX = 14;
const INPUT_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'];

const FIELDS =
  'contents generationConfig safetySettings systemInstruction tools toolConfig cachedContent labels'.split(
    ' ',
  );
const IMAGE_FIELDS = ['aspectRatio', 'imageSize'];
const CONFIG_FIELDS = (
  'responseModalities imageConfig thinkingConfig temperature topP topK seed candidateCount maxOutputTokens ' +
  'stopSequences mediaResolution presencePenalty frequencyPenalty responseMimeType'
).split(' ');

export function readImageRequest(fields: Fields): ImageRequest {
  const parts = objectsIn(fields['contents']).flatMap((content) => objectsIn(content['parts']));
  const texts = parts.map(({ text }) => text).filter((text) => typeof text === 'string');
  return { fields, parts, prompt: texts.join('\n') };
}

export function thinks(model: string): boolean {
  return MODELS[model]?.thinks ?? false;
}

export function checkImageOrder(request: SandboxRequest, model: string, input: ImageRequest): ImageOrder {
  const limits = MODELS[model];
  if (limits === undefined) refuse(request, 404);
  refuseUnknown(request, input.fields, FIELDS, '', wordUnknownField);
  if (input.parts.length === 0) refuseField(request, 'contents', '* contents: contents is not specified');
  const config = objectAt(request, input.fields, 'generationConfig');
  refuseUnknown(request, config, CONFIG_FIELDS, 'generation_config.', wordUnknownField);
  const { candidateCount = 1 } = config;
  if (candidateCount !== 1)
    refuseField(
      request,
      'generation_config.candidate_count',
      'Multiple candidates is not enabled for this model',
    );
  const modalities = modalitiesOf(request, config);
  const image = objectAt(request, config, 'imageConfig');
  refuseUnknown(request, image, IMAGE_FIELDS, 'generation_config.image_config.', wordUnknownField);
  return {
    model,
    aspectRatio: oneOf(request, image, 'aspectRatio', limits.ratios, '1:1'),
    imageSize: oneOf(request, image, 'imageSize', limits.sizes, '1K'),
    inputImages: countImages(request, input.parts),
    withText: modalities.includes('TEXT'),
  };
}

function modalitiesOf(request: SandboxRequest, { responseModalities }: Fields): string[] {
  const given = responseModalities ?? ['TEXT', 'IMAGE'];
  const known = ['TEXT', 'IMAGE'];
  const isKnown = Array.isArray(given) && given.every((word) => known.includes(word));
  if (isKnown && given.includes('IMAGE')) return given;
  return refuseField(
    request,
    'generation_config.response_modalities',
    'The requested combination of response modalities is not supported by the model.',
  );
}

function countImages(request: SandboxRequest, parts: readonly Fields[]): number {
  const images = parts.filter(({ text }) => text === undefined);
  for (const { inlineData, fileData } of images) {
    if (isFields(fileData) && typeof fileData['fileUri'] === 'string') continue;
    const { mimeType, data } = isFields(inlineData) ? inlineData : {};
    if (!INPUT_TYPES.includes(String(mimeType)))
      refuseField(
        request,
        'contents.parts.inline_data.mime_type',
        `Unsupported MIME type: ${String(mimeType)}`,
      );
    if (!isBareBase64(data))
      refuseField(request, 'contents.parts.inline_data.data', 'Base64 decoding failed');
  }
  if (images.length > INPUT_IMAGES_MAX)
    refuseField(request, 'contents', `Please use fewer than ${INPUT_IMAGES_MAX + 1} images in your request.`);
  return images.length;
}

function objectAt(request: SandboxRequest, fields: Fields, field: string): Fields {
  const value = fields[field] ?? {};
  return isFields(value) ? value : refuseField(request, field, `Invalid value at '${field}'`);
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
  const message = `${field} must be one of ${values.map((candidate) => `'${candidate}'`).join(', ')}.`;
  return known ?? refuseField(request, `generation_config.image_config.${field}`, message);
}
