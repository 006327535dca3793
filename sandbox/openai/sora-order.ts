// Checks an order of OpenAI's Videos API, from JSON or a form: refuses what OpenAI would not accept.

import { Buffer } from 'node:buffer';
import {
  isHttpsUrl,
  isImageDataUri,
  refuseField,
  refuseUnknown,
  requireOneOf,
  requireText,
} from '../field-checks.ts';
import { type Fields, isFields, isForm, readForm, readJsonObject } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';

export interface SoraOrder {
  readonly model: string;
  readonly seconds: string;
  readonly size: string;
  readonly inputImages: number;
}

interface InputFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const PRO_MODELS = ['sora-2-pro', 'sora-2-pro-2025-10-06'];
const MODELS = ['sora-2', 'sora-2-2025-10-06', 'sora-2-2025-12-08', ...PRO_MODELS];
const SECONDS = ['4', '8', '12'];
const SIZES = ['720x1280', '1280x720'];
const PRO_SIZES = [...SIZES, '1024x1792', '1792x1024', '1080x1920', '1920x1080'];
const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/webp'];
const PROMPT_CHARACTERS_MAX = 32_000;
const FIELDS = ['prompt', 'model', 'seconds', 'size', 'input_reference'];

/** Reads a form's values as texts, and its files as type and bytes. */
export async function readSoraRequest(request: SandboxRequest): Promise<Fields> {
  if (!isForm(request)) return readJsonObject(request);
  const fields: Record<string, unknown> = {};
  for (const [name, value] of await readForm(request))
    fields[name] = typeof value === 'string' ? value : await readFile(value);
  return fields;
}

export function checkSoraOrder(request: SandboxRequest, fields: Fields): SoraOrder {
  refuseUnknown(request, fields, FIELDS);
  requireText(request, 'prompt', fields['prompt'], PROMPT_CHARACTERS_MAX);
  const model = requireOneOf(request, 'model', fields['model'] ?? 'sora-2', MODELS);
  const sizes = PRO_MODELS.includes(model) ? PRO_SIZES : SIZES;
  const size = requireOneOf(request, 'size', fields['size'] ?? '720x1280', sizes);
  const reference = fields['input_reference'];
  if (reference !== undefined) checkReference(request, reference, size);
  return {
    model,
    // OpenAI refuses a number.

    seconds: requireOneOf(request, 'seconds', fields['seconds'] ?? '4', SECONDS),
    size,
    inputImages: reference === undefined ? 0 : 1,
  };
}

function checkReference(request: SandboxRequest, reference: unknown, size: string): void {
  const field = 'input_reference';
  if (isInputFile(reference)) return checkFile(request, reference, size);
  const { file_id: fileId, image_url: url } = isFields(reference) ? reference : {};
  if (typeof fileId === 'string' && url === undefined) return;
  if (fileId === undefined && (isHttpsUrl(url) || isImageDataUri(url))) return;
  refuseField(request, field, `${field} must be a file, or have either a file_id or an image_url.`);
}

/** Refuses a first frame that does not have the video's size; the sandbox measures PNG files only. */
function checkFile(request: SandboxRequest, { type, bytes }: InputFile, size: string): void {
  const field = 'input_reference';
  if (!IMAGE_TYPES.includes(type)) refuseField(request, field, `Unsupported mimetype: ${type}.`);
  if (type !== 'image/png') return;
  if (bytes.length < 24 || bytes.toString('latin1', 1, 4) !== 'PNG')
    refuseField(request, field, 'The image could not be decoded.');
  if (`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}` !== size)
    refuseField(request, field, 'Inpaint image must match the requested width and height.');
}

async function readFile(file: File): Promise<InputFile> {
  return { type: file.type, bytes: Buffer.from(await file.arrayBuffer()) };
}

function isInputFile(value: unknown): value is InputFile {
  return isFields(value) && value['bytes'] instanceof Buffer && typeof value['type'] === 'string';
}
