// Sizes in pixels, as OpenAI's API names them, for a model's resolutions and ratios.
import type { ModelLimits } from '../catalog/catalog.ts';
import { invalidValue } from './refusals.ts';

/** Resolutions whose name is no number of lines. */
const LINES: Readonly<Record<string, number>> = { '1K': 1024, '2K': 1440, '4k': 2160, '4K': 2160 };
/** Sizes that a vendor names otherwise: the middle size of sora-2-pro. */
const NAMED: Readonly<Record<string, string>> = { '1024p 16:9': '1792x1024', '1024p 9:16': '1024x1792' };
/** Players and encoders round the longer side differently, such as 848 and 854 for 480 lines. */
const TOLERANCE = 0.02;

/** The shorter side has the lines of the resolution. Null without resolution or ratio, or for other names. */
export function pixelSizeOf(resolution: string | null, ratio: string | null): string | null {
  const lines = LINES[resolution ?? ''] ?? Number(/^(\d{3,4})p$/.exec(resolution ?? '')?.[1] ?? Number.NaN);
  const [, width, height] = /^(\d{1,2}):(\d{1,2})$/.exec(ratio ?? '') ?? [];
  if (Number.isNaN(lines) || width === undefined || height === undefined) return null;
  const named = NAMED[`${resolution} ${ratio}`];
  if (named !== undefined) return named;
  const quotient = Number(width) / Number(height);
  return quotient >= 1 ? `${even(lines * quotient)}x${lines}` : `${lines}x${even(lines / quotient)}`;
}

/**
 * The resolution and ratio of a size such as `1280x720`; the size itself as a ratio where it is no size in
 * pixels. Throws 400 with the model's sizes for any other size.
 */
export function readPixelSize(
  size: string,
  { resolutions = [], ratios = [] }: ModelLimits,
): { resolution?: string; ratio: string } {
  const wanted = readSides(size);
  if (!wanted) return { ratio: size };
  const offered = resolutions.flatMap((resolution) =>
    ratios.map((ratio) => ({ resolution, ratio, pixels: pixelSizeOf(resolution, ratio) })),
  );
  const found = offered.find(({ pixels }) => pixels !== null && isNear(wanted, pixels));
  if (found) return { resolution: found.resolution, ratio: found.ratio };
  const names = offered.flatMap(({ pixels }) => pixels ?? []);
  throw invalidValue('size', `size must be one of ${names.join(', ')}.`);
}

function readSides(size: string): [width: number, height: number] | null {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size) ?? [];
  return width === undefined || height === undefined ? null : [Number(width), Number(height)];
}

function isNear([width, height]: [number, number], pixels: string): boolean {
  const [otherWidth, otherHeight] = readSides(pixels) ?? [0, 0];
  const isSameShort = Math.min(width, height) === Math.min(otherWidth, otherHeight);
  return (
    isSameShort &&
    Math.abs(width / otherWidth - 1) <= TOLERANCE &&
    Math.abs(height / otherHeight - 1) <= TOLERANCE
  );
}

function even(length: number): number {
  return Math.round(length / 2) * 2;
}
