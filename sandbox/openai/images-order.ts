// Checks an order of OpenAI's Images API, from JSON or a form: refuses what OpenAI would not accept.

import {
  countCodePoints,
  type Fields,
  isFields,
  isForm,
  readForm,
  readJsonObject,
  textIn,
} from '../requests.ts';
import type { ImageFormat } from '../results.ts';
import type { SandboxRequest } from '../vendor-api.ts';
import { isAbsent, oneOf, refuseAbsent, refuseField } from './fields.ts';

export interface ImageOrder {
  readonly model: string;
  readonly count: number;
  readonly width: number;
  readonly height: number;
  readonly quality: string;
  readonly background: string;
  readonly format: ImageFormat;
  readonly inputImages: number;
}

export interface ImageRequest {
  readonly fields: Fields;
  readonly prompt: string;
}

const FLEXIBLE_MODELS = [
  'gpt-image-2',
  'gpt-image-2-2026-04-21',
  'gpt-image-2.5-flare',
  'gpt-image-2.5-flare-2026-09-08',
  'gpt-image-2.5-sunburst',
  'gpt-image-2.5-sunburst-2026-09-08',
];
const MODELS = ['gpt-image-1', 'gpt-image-1-mini', 'gpt-image-1.5', ...FLEXIBLE_MODELS];
const MODEL_BY_DEFAULT = 'gpt-image-1.5';

const PROMPT_CHARACTERS_MAX = 32_000;
const INPUT_IMAGES_MAX = 16;
const EDGE_MULTIPLE = 16;
const EDGE_MAX = 3840;
const RATIO_MAX = 3;
const PIXELS_MIN = 655_360;
const PIXELS_MAX = 8_294_400;

const FIXED_SIZES = ['1024x1024', '1536x1024', '1024x1536'];
const QUALITIES = ['low', 'medium', 'high', 'auto'];
const FORMATS: readonly ImageFormat[] = ['png', 'jpeg', 'webp'];

const COMMON_FIELDS =
  'prompt model n size quality background moderation output_format output_compression stream partial_images user';
const GENERATION_FIELDS = COMMON_FIELDS.split(' ');
const EDIT_FIELDS = [...GENERATION_FIELDS, 'images', 'mask', 'input_fidelity'];

/** Reads a form's values as JSON would have them, and its files as `images` and `mask`. */
export async function readImageRequest(request: SandboxRequest): Promise<ImageRequest> {
  const fields = isForm(request) ? fieldsOf(await readForm(request)) : readJsonObject(request);
  return { fields, prompt: textIn(fields, 'prompt') };
}

export function checkGeneration(request: SandboxRequest, input: ImageRequest): ImageOrder {
  return checkOrder(request, input, GENERATION_FIELDS, 0);
}

export function checkEdit(request: SandboxRequest, input: ImageRequest): ImageOrder {
  const { images, mask } = input.fields;
  const given = Array.isArray(images) ? images : [];
  if (given.length === 0) refuseAbsent(request, 'image');
  if (given.length > INPUT_IMAGES_MAX) {
    refuseField(
      request,
      'image',
      `At most ${INPUT_IMAGES_MAX} images are allowed.`,
      'array_above_max_length',
    );
  }
  for (const image of mask === undefined ? given : [...given, mask]) {
    if (!isImage(image)) refuseField(request, 'image', 'Invalid image file or mode.', 'invalid_image_file');
  }
  oneOf(request, 'input_fidelity', input.fields['input_fidelity'], ['low', 'high']);
  return checkOrder(request, input, EDIT_FIELDS, given.length);
}

function checkOrder(
  request: SandboxRequest,
  input: ImageRequest,
  known: string[],
  inputImages: number,
): ImageOrder {
  const { fields, prompt } = input;
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined)
    refuseField(request, unknown, `Unknown parameter: '${unknown}'.`, 'unknown_parameter');
  if (prompt === '') refuseAbsent(request, 'prompt');
  if (countCodePoints(prompt) > PROMPT_CHARACTERS_MAX) {
    refuseField(
      request,
      'prompt',
      `The prompt is longer than ${PROMPT_CHARACTERS_MAX}.`,
      'string_above_max_length',
    );
  }
  if (fields['stream'] === true) refuseField(request, 'stream', 'No streaming here.', 'unsupported_value');
  const model = oneOf(request, 'model', fields['model'], MODELS) ?? MODEL_BY_DEFAULT;
  oneOf(request, 'moderation', fields['moderation'], ['auto', 'low']);
  integer(request, fields, 'output_compression', 0, 100);
  integer(request, fields, 'partial_images', 0, 3);
  const quality = oneOf(request, 'quality', fields['quality'], qualitiesOf(model)) ?? 'auto';
  const background =
    oneOf(request, 'background', fields['background'], ['transparent', 'opaque', 'auto']) ?? 'auto';
  const format = oneOf(request, 'output_format', fields['output_format'], FORMATS) ?? 'png';
  if (background === 'transparent' && format === 'jpeg') {
    refuseField(request, 'background', 'Transparent background is not supported for jpeg.', 'invalid_value');
  }
  return {
    model,
    count: integer(request, fields, 'n', 1, 10) ?? 1,
    ...sizeOf(request, fields, model),
    quality: quality === 'auto' ? 'medium' : quality,
    background: background === 'auto' ? 'opaque' : background,
    format,
    inputImages,
  };
}

function sizeOf(request: SandboxRequest, fields: Fields, model: string): { width: number; height: number } {
  const size = fields['size'] ?? 'auto';
  if (size === 'auto') return { width: 1024, height: 1024 };
  const parts = typeof size === 'string' ? /^(\d{1,5})x(\d{1,5})$/.exec(size) : null;
  if (typeof size !== 'string' || parts === null) refuseSize(request, size);
  const [width, height] = [Number(parts[1]), Number(parts[2])];
  const legal = FLEXIBLE_MODELS.includes(model) ? isFlexibleSize(width, height) : FIXED_SIZES.includes(size);
  if (!legal) refuseSize(request, size);
  return { width, height };
}

function isFlexibleSize(width: number, height: number): boolean {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  const pixels = width * height;
  if (width % EDGE_MULTIPLE !== 0 || height % EDGE_MULTIPLE !== 0) return false;
  return long <= EDGE_MAX && long <= RATIO_MAX * short && pixels >= PIXELS_MIN && pixels <= PIXELS_MAX;
}

function qualitiesOf(model: string): string[] {
  return model.startsWith('gpt-image-2.5') ? [...QUALITIES, 'xhigh', 'max'] : QUALITIES;
}

/** Null where the field is absent. */
function integer(
  request: SandboxRequest,
  fields: Fields,
  field: string,
  min: number,
  max: number,
): number | null {
  const value = fields[field];
  if (isAbsent(value)) return null;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    return refuseField(request, field, `Invalid type for '${field}': expected an integer.`, 'invalid_type');
  }
  if (value >= min && value <= max) return value;
  const [bound, code] = value < min ? [`>= ${min}`, 'below_min'] : [`<= ${max}`, 'above_max'];
  return refuseField(
    request,
    field,
    `Invalid '${field}': expected a value ${bound}.`,
    `integer_${code}_value`,
  );
}

function isImage(value: unknown): boolean {
  if (value instanceof File) return value.size > 0;
  if (!isFields(value)) return false;
  const { image_url: url, file_id: fileId } = value;
  if (typeof fileId === 'string') return url === undefined && fileId !== '';
  return typeof url === 'string' && /^(https:\/\/|data:image\/(png|jpeg|webp);base64,)/.test(url);
}

function fieldsOf(form: FormData): Fields {
  const fields: Record<string, unknown> = {};
  const images = [...form.getAll('image'), ...form.getAll('image[]')];
  for (const [name, value] of form) {
    if (name === 'image' || name === 'image[]') continue;
    fields[name] = typeof value === 'string' && name !== 'prompt' && name !== 'user' ? typed(value) : value;
  }
  return images.length === 0 ? fields : { ...fields, images };
}

/** Turns a form's text into the number or boolean that JSON would have. */
function typed(value: string): string | number | boolean {
  if (/^-?\d+$/.test(value)) return Number(value);
  return value === 'true' || value === 'false' ? value === 'true' : value;
}

function refuseSize(request: SandboxRequest, size: unknown): never {
  return refuseField(
    request,
    'size',
    `Invalid size for this model: ${JSON.stringify(size)}.`,
    'invalid_value',
  );
}
