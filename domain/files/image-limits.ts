// What a vendor demands of input images: format, bytes, sides in pixels, their ratio.
import type { ImageLimits } from '../catalog/catalog.ts';

/** What an image is, by its own bytes. */
export interface ImageFacts {
  type: 'image/png' | 'image/jpeg' | 'image/webp';
  bytes: number;
  width: number;
  height: number;
}

const BYTES_PER_MEGABYTE = 1_000_000;

/** The end of a sentence that says what the image is and what the model takes; null where it fits. */
export function explainImageLimits(image: ImageFacts, limits: ImageLimits, model: string): string | null {
  const { formats, bytesMax, sidePixelsMin, sidePixelsMax, sidesRatioMax } = limits;
  const { type, bytes, width, height } = image;
  const [short, long] = width < height ? [width, height] : [height, width];
  const size = `has ${width} × ${height} pixels`;
  if (formats && !formats.some((format) => type === `image/${format}`))
    return `is ${type}: ${model} takes images in the formats ${formats.join(', ')}`;
  if (bytesMax !== undefined && bytes > bytesMax)
    return `has ${bytes} bytes: ${model} takes images of at most ${bytesMax / BYTES_PER_MEGABYTE} MB`;
  if (sidePixelsMin !== undefined && short < sidePixelsMin)
    return `${size}: ${model} takes images of at least ${sidePixelsMin} pixels a side`;
  if (sidePixelsMax !== undefined && long > sidePixelsMax)
    return `${size}: ${model} takes images of at most ${sidePixelsMax} pixels a side`;
  if (sidesRatioMax !== undefined && long > short * sidesRatioMax)
    return `${size}: ${model} takes images whose longer side is at most ${sidesRatioMax} times the shorter one`;
  return null;
}
