// Looks at images that an order holds in itself: their format, their bytes and their sides. What is behind a
// URL, or cannot be read, passes.

import { refuseField } from './field-checks.ts';
import type { SandboxRequest } from './vendor-api.ts';

export interface ImageFileLimits {
  readonly formats?: readonly Format[];
  readonly bytesMax?: number;
  readonly sidePixelsMin?: number;
  readonly sidePixelsMax?: number;
  /** Of the longer side to the shorter one. */
  readonly sidesRatioMax?: number;
}

type Format = 'png' | 'jpeg' | 'webp';
type Size = readonly [width: number, height: number];

const PNG_WIDTH_AT = 16;
const JPEG_START_OF_SCAN = 0xda;

/** `value`: a data URI, base64 alone, or a URL. */
export function checkImageFile(
  request: SandboxRequest,
  field: string,
  value: unknown,
  limits: ImageFileLimits,
): void {
  const bytes = typeof value === 'string' ? embedded(value) : null;
  if (bytes === null) return;
  const format = formatOf(bytes);
  if (format === null) return;
  if (limits.formats && !limits.formats.includes(format))
    refuseField(request, field, `The image must be ${limits.formats.join(' or ')}.`);
  if (bytes.length > (limits.bytesMax ?? Infinity))
    refuseField(request, field, 'The image file is too large.');
  const size = sizeOf(format, bytes);
  if (size) checkSides(request, field, size, limits);
}

function checkSides(
  request: SandboxRequest,
  field: string,
  [width, height]: Size,
  { sidePixelsMin = 0, sidePixelsMax = Infinity, sidesRatioMax = Infinity }: ImageFileLimits,
): void {
  const [short, long] = width < height ? [width, height] : [height, width];
  if (short < sidePixelsMin) refuseField(request, field, `The image needs ${sidePixelsMin} pixels a side.`);
  if (long > sidePixelsMax)
    refuseField(request, field, `The image has more than ${sidePixelsMax} pixels a side.`);
  if (long > short * sidesRatioMax)
    refuseField(request, field, 'The aspect ratio of the image is not supported.');
}

/** Null for a URL. */
function embedded(value: string): Buffer | null {
  if (/^[a-z_]+:\/\//.test(value)) return null;
  const encoded = value.startsWith('data:') ? value.slice(value.indexOf(',') + 1) : value;
  return Buffer.from(encoded, 'base64');
}

function formatOf(bytes: Buffer): Format | null {
  if (bytes.toString('latin1', 1, 4) === 'PNG') return 'png';
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return 'jpeg';
  return bytes.toString('latin1', 8, 12) === 'WEBP' ? 'webp' : null;
}

/** Null for WebP, whose three headers are not read here, and for a file without its header. */
function sizeOf(format: Format, bytes: Buffer): Size | null {
  if (format === 'jpeg') return jpegSize(bytes);
  if (format === 'webp' || bytes.length < PNG_WIDTH_AT + 8) return null;
  return [bytes.readUInt32BE(PNG_WIDTH_AT), bytes.readUInt32BE(PNG_WIDTH_AT + 4)];
}

/** Reads the first frame header (ITU-T T.81 §B.2.2), which stands before the pixels. */
function jpegSize(bytes: Buffer): Size | null {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    if (marker === JPEG_START_OF_SCAN) return null;
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
