// Makes small previews of images when they are stored. A failure costs the preview, never the task.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import sharp from 'sharp';
import type { TaskOutput } from '../db/columns.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Longest side of a preview: twice that of a card in a list, for dense screens. */
const SIDE_PIXELS = 512;
const QUALITY = 72;
/** Of 6. Two thirds of the processor time of the default, 4, for as many bytes within 4 %. */
const EFFORT = 2;
/** Images beyond these limits have no preview. 64 megapixels are 8K × 8K. */
const PIXELS_MAX = 64 * 1024 * 1024;
const BYTES_MAX = 40 * 1024 * 1024;
const SECONDS_MAX = 10;
/** Images decoded at once in this process, each in a thread of its own outside of the event loop. */
const PARALLEL_MAX = 2;

sharp.concurrency(1);
sharp.cache(false);
const inTurn = pLimit(PARALLEL_MAX);

/**
 * Adds the preview's key to an image that is stored; every other output is returned as it is. `image`: its
 * bytes, which are read from the storage when left out.
 */
export async function withPreview(
  { storage, log }: Pick<ActivityDependencies, 'storage' | 'log'>,
  output: TaskOutput,
  image?: Uint8Array,
): Promise<TaskOutput> {
  const { key, contentType, bytes } = output;
  if (!contentType.startsWith('image/') || bytes > BYTES_MAX) return output;
  try {
    const previewKey = key.replace(/\.[a-z0-9]+$/, '.preview.webp');
    const small = await inTurn(async () => {
      if (image) return shrink(image);
      const file = await storage.read(key);
      return file && shrink(await buffer(file.stream));
    });
    if (!small) return output;
    const source = Readable.from([small], { objectMode: false });
    await storage.write(previewKey, source, { contentType: 'image/webp' });
    return { ...output, previewKey };
  } catch (err) {
    log.warn({ err, key }, 'an image has no preview');
    return output;
  }
}

function shrink(image: Uint8Array): Promise<Buffer> {
  return sharp(image, { limitInputPixels: PIXELS_MAX, failOn: 'error' })
    .timeout({ seconds: SECONDS_MAX })
    .rotate()
    .resize({ width: SIDE_PIXELS, height: SIDE_PIXELS, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: QUALITY, effort: EFFORT })
    .toBuffer();
}
