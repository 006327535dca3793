// Grok Imagine: USD per second and per input image of the vendor's list, times 200. Sound costs nothing more.
import type { ImageRole } from '../../../domain/catalog/catalog.ts';
import type { PricingRow } from './row.ts';

/** The prices of a model in tenths of a credit, so that the arithmetic is exact. */
interface List {
  model: string;
  perSecond: readonly [resolution: string, tenths: number][];
  perImage: number;
  images: readonly [imageRole: ImageRole, images: number][];
}

const LISTS: readonly List[] = [
  {
    model: 'grok-imagine-video',
    perSecond: [
      ['480p', 100], // $0.05
      ['720p', 140],
    ],
    perImage: 4, // $0.002
    images: [
      ['first_frame', 1],
      ['references', 7],
    ],
  },
  {
    model: 'grok-imagine-video-1.5',
    perSecond: [
      ['480p', 160],
      ['720p', 280],
      ['1080p', 500], // $0.25
    ],
    perImage: 20,
    images: [
      ['first_frame', 1],
      ['last_frame', 1],
      ['first_and_last_frame', 2],
      ['references', 7],
      ['first_frame_and_references', 8],
    ],
  },
  {
    model: 'grok-imagine-video-1.5-lite',
    perSecond: [
      ['480p', 40],
      ['720p', 60],
      ['1080p', 280], // $0.14
    ],
    perImage: 20,
    images: [['first_frame', 1]],
  },
];

export const ROWS: readonly PricingRow[] = LISTS.flatMap(({ model, perSecond, perImage, images }) =>
  perSecond.flatMap(([resolution, tenths]) =>
    ([['none', 0], ...images] as const).flatMap(([imageRole, inputImages]) =>
      secondsFor(model, imageRole, resolution).flatMap((seconds) =>
        [true, false].map((audio) => ({
          model,
          order: { seconds, resolution, audio, imageRole, inputImages },
          credits: String((tenths * seconds + perImage * inputImages) / 10),
        })),
      ),
    ),
  ),
);

/** Returns the seconds that may be ordered, of which references allow fewer. */
function secondsFor(model: string, imageRole: ImageRole, resolution: string): number[] {
  if (imageRole.endsWith('references') && resolution === '1080p') return [];
  return imageRole === 'references' && model === 'grok-imagine-video' ? [1, 8, 10] : [1, 8, 15];
}
