// Loads input images for vendors that take no URLs: from data URIs, or downloaded through the address guard.
import { buffer } from 'node:stream/consumers';
import { sniffMediaType } from '../../domain/files/media-types.ts';
import { downloadFromOutside } from './download.ts';
import { UpstreamFailure } from '../provider.ts';

export interface InputImage {
  type: 'image/png' | 'image/jpeg' | 'image/webp';
  bytes: Buffer;
}

const INPUT_IMAGE_BYTES_MAX = 20 * 1024 * 1024;
const PARALLEL_MAX = 8;
const FETCH_TIMEOUT_MS = 20_000;
const FETCH_SILENCE_MS = 5_000;

/**
 * Loads all images, in order. Throws an UpstreamFailure `refused` that names the first bad one:
 * `input_refused` with the same text for a forbidden URL and for an unreachable one, `input_unreadable` for
 * what is no image.
 */
export async function loadInputImages(
  images: readonly string[],
  signal?: AbortSignal,
): Promise<InputImage[]> {
  const loaded: InputImage[] = [];
  for (let from = 0; from < images.length; from += PARALLEL_MAX) {
    const batch = images.slice(from, from + PARALLEL_MAX);
    loaded.push(...(await Promise.all(batch.map((image, index) => load(image, from + index + 1, signal)))));
  }
  return loaded;
}

async function load(image: string, position: number, signal?: AbortSignal): Promise<InputImage> {
  const bytes = /^data:/i.test(image) ? decode(image, position) : await fetchBytes(image, position, signal);
  const type = sniffMediaType(bytes);
  if (type === 'image/png' || type === 'image/jpeg' || type === 'image/webp') return { type, bytes };
  throw unreadable(position, 'is not a PNG, JPEG or WebP file');
}

function decode(dataUri: string, position: number): Buffer {
  const comma = dataUri.indexOf(',');
  const isBase64 = comma > 0 && dataUri.slice(0, comma).toLowerCase().endsWith(';base64');
  const bytes = isBase64 ? Buffer.from(dataUri.slice(comma + 1), 'base64') : Buffer.alloc(0);
  if (bytes.length > INPUT_IMAGE_BYTES_MAX) throw unreadable(position, 'is larger than 20 MiB');
  return bytes;
}

async function fetchBytes(url: string, position: number, signal?: AbortSignal): Promise<Buffer> {
  try {
    const { status, stream } = await downloadFromOutside(url, {
      // A caller's URL must not reach even the operator's own origins.
      trustsOrigin: () => false,
      bytesMax: INPUT_IMAGE_BYTES_MAX,
      timeoutMs: FETCH_TIMEOUT_MS,
      silenceMs: FETCH_SILENCE_MS,
      signal,
    });
    if (status === 200) return await buffer(stream);
    stream.destroy();
  } catch (error) {
    throw refused(position, error);
  }
  throw refused(position);
}

function refused(position: number, cause?: unknown): UpstreamFailure {
  const text = `Input image ${position} could not be fetched.`;
  return new UpstreamFailure('input_refused', 'refused', { text, cause });
}

function unreadable(position: number, problem: string): UpstreamFailure {
  return new UpstreamFailure('input_unreadable', 'refused', { text: `Input image ${position} ${problem}.` });
}
