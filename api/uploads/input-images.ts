// Looks at input images that come as data URIs, before anything is set aside for their request: whole, what
// they claim to be, of sane dimensions, and within the limits of the model's vendor.
import pLimit from 'p-limit';
import type { Sharp } from 'sharp';
import type { Model } from '../../domain/catalog/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { explainImageLimits, type ImageFacts } from '../../domain/files/image-limits.ts';
import { isWholeInputImage } from '../../domain/files/whole-inputs.ts';

/** An input image as its caller sent it, and the path of its field. */
export interface SentImage {
  /** An https URL or a data URI, whose form was checked. */
  url: string;
  param: string;
}

/** More than any camera makes and any vendor takes; a decoder would need four bytes for each. */
const IMAGE_PIXELS_MAX = 100_000_000;
const IMAGE_SIDE_PIXELS_MAX = 30_000;
/** libvips works in the threads that files and look-ups of names use as well. */
const INSPECTED_AT_ONCE_MAX = 2;

const turns = pLimit(INSPECTED_AT_ONCE_MAX);

/**
 * Reads the headers of all images that are data URIs, none of the pixels; null stands for a URL, which is not
 * fetched. Throws 400 `invalid_image` that names the first bad one.
 */
export async function inspectImages(images: readonly SentImage[]): Promise<(ImageFacts | null)[]> {
  return Promise.all(
    images.map((image) => (isDataUri(image.url) ? turns(() => inspect(image)) : Promise.resolve(null))),
  );
}

/**
 * Inspects the images as above and holds them against what the model's vendor takes. Throws 400
 * `invalid_image` that names the image and the limit.
 */
export async function checkImagesFor({ id, limits }: Model, images: readonly SentImage[]): Promise<void> {
  const facts = await inspectImages(images);
  for (const [index, { param }] of images.entries()) {
    const image = facts[index];
    const problem = image ? explainImageLimits(image, limits.inputImageLimits ?? {}, id) : null;
    if (problem !== null) throw refuse(param, problem);
  }
}

async function inspect({ url, param }: SentImage): Promise<ImageFacts> {
  const comma = url.indexOf(',');
  const encoded = url.slice(comma + 1);
  const bytes = Buffer.from(encoded, 'base64');
  // Buffer skips what is not base64.
  const padding = /={0,2}$/.exec(encoded.slice(-2))?.[0].length ?? 0;
  if (bytes.length !== Math.floor(((encoded.length - padding) * 3) / 4)) throw refuse(param, 'is not base64');
  if (!isWholeInputImage(bytes)) throw refuse(param, 'is cut off');
  const { format, width, height } = await readHeader(bytes, param);
  const type =
    format === 'png' || format === 'jpeg' || format === 'webp' ? (`image/${format}` as const) : null;
  if (type === null || !url.toLowerCase().startsWith(`data:${type};`))
    throw refuse(param, 'is not of the type that it declares');
  if (width * height > IMAGE_PIXELS_MAX || Math.max(width, height) > IMAGE_SIDE_PIXELS_MAX)
    throw refuse(param, `has ${width} × ${height} pixels, which is too many`);
  return { type, bytes: bytes.length, width, height };
}

async function readHeader(bytes: Buffer, param: string): ReturnType<Sharp['metadata']> {
  // Loaded on first use: most processes of tests and tools never need it.
  const { default: sharp } = await import('sharp');
  try {
    return await sharp(bytes, { failOn: 'error', limitInputPixels: false }).metadata();
  } catch {
    throw refuse(param, 'is no image that can be read'); // the library's own text tells of its version
  }
}

function refuse(param: string, problem: string): GatewayError {
  return new GatewayError('invalid_image', { param, message: `${param} ${problem}.` });
}

function isDataUri(url: string): boolean {
  return /^data:/i.test(url);
}
