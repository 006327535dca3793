/** What generateContent accepts of an image model; everything else is refused, naming the field. */

import { EarlyAnswer } from '../answers.ts';
import type { SandboxRequest } from '../dialect.ts';
import { type Fields, isFields } from '../requests.ts';

export interface PictureOrder {
  readonly model: string;
  readonly aspectRatio: string;
  readonly imageSize: string;
  readonly inputImages: number;
  readonly withText: boolean;
}

export interface PictureRequest {
  readonly fields: Fields;
  /** All parts of all contents. */
  readonly parts: readonly Fields[];
  readonly prompt: string;
}

interface Offer {
  readonly sizes: readonly string[];
  readonly ratios: readonly string[];
  /** Drafts are shown as thoughts. */
  readonly thinks: boolean;
}

const COMMON_RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];
const FLASH_RATIOS = [...COMMON_RATIOS, '1:4', '4:1', '1:8', '8:1'];
const SIZES = ['1K', '2K', '4K'];

const OFFERS: Readonly<Record<string, Offer>> = {
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
const CONFIG_FIELDS = (
  'responseModalities imageConfig thinkingConfig temperature topP topK seed candidateCount maxOutputTokens ' +
  'stopSequences mediaResolution presencePenalty frequencyPenalty responseMimeType'
).split(' ');

export function readPictureRequest(fields: Fields): PictureRequest {
  const contents = Array.isArray(fields['contents']) ? fields['contents'].filter(isFields) : [];
  const parts = contents
    .flatMap(({ parts: inside }): unknown[] => (Array.isArray(inside) ? inside : []))
    .filter(isFields);
  const texts = parts.map(({ text }) => text).filter((text) => typeof text === 'string');
  return { fields, parts, prompt: texts.join('\n') };
}

export function thinks(model: string): boolean {
  return OFFERS[model]?.thinks ?? false;
}

export function checkPictureOrder(
  request: SandboxRequest,
  model: string,
  input: PictureRequest,
): PictureOrder {
  const offer = OFFERS[model];
  if (offer === undefined) throw new EarlyAnswer(request.voice.refuse(404));
  refuseUnknown(request, input.fields, FIELDS, '');
  if (input.parts.length === 0) refuse(request, 'contents', '* contents: contents is not specified');
  const config = objectAt(request, input.fields, 'generationConfig');
  refuseUnknown(request, config, CONFIG_FIELDS, 'generation_config.');
  const { candidateCount = 1 } = config;
  if (candidateCount !== 1)
    refuse(request, 'generation_config.candidate_count', 'Multiple candidates is not enabled for this model');
  const modalities = modalitiesOf(request, config);
  const image = objectAt(request, config, 'imageConfig');
  refuseUnknown(request, image, ['aspectRatio', 'imageSize'], 'generation_config.image_config.');
  return {
    model,
    aspectRatio: oneOf(request, image, 'aspectRatio', offer.ratios, '1:1'),
    imageSize: oneOf(request, image, 'imageSize', offer.sizes, '1K'),
    inputImages: countImages(request, input.parts),
    withText: modalities.includes('TEXT'),
  };
}

function modalitiesOf(request: SandboxRequest, { responseModalities }: Fields): string[] {
  const given = responseModalities ?? ['TEXT', 'IMAGE'];
  const known = ['TEXT', 'IMAGE'];
  const isKnown = Array.isArray(given) && given.every((word) => known.includes(word));
  if (isKnown && given.includes('IMAGE')) return given;
  return refuse(
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
      refuse(request, 'contents.parts.inline_data.mime_type', `Unsupported MIME type: ${String(mimeType)}`);
    if (typeof data !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
      refuse(request, 'contents.parts.inline_data.data', 'Base64 decoding failed');
  }
  if (images.length > INPUT_IMAGES_MAX)
    refuse(request, 'contents', `Please use fewer than ${INPUT_IMAGES_MAX + 1} images in your request.`);
  return images.length;
}

function objectAt(request: SandboxRequest, fields: Fields, field: string): Fields {
  const value = fields[field] ?? {};
  return isFields(value) ? value : refuse(request, field, `Invalid value at '${field}'`);
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
  const message = `${field} must be one of ${values.map((one) => `'${one}'`).join(', ')}.`;
  return known ?? refuse(request, `generation_config.image_config.${field}`, message);
}

function refuseUnknown(request: SandboxRequest, fields: Fields, known: readonly string[], at: string): void {
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined)
    refuse(
      request,
      `${at}${unknown}`,
      `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`,
    );
}

function refuse(request: SandboxRequest, field: string, message: string): never {
  throw new EarlyAnswer(request.voice.refuse(400, { field, message }));
}
