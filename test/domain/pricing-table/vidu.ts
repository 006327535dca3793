// Vidu: the vendor's list of credits per second, which are worth as much as ours. Sound costs nothing more.
import type { ImageRole } from '../../../domain/catalog/catalog.ts';
import type { PricingRow } from './row.ts';

type PerSecond = readonly [resolution: string, credits: number];

const FRAMES: readonly ImageRole[] = ['none', 'first_frame', 'first_and_last_frame'];
const LIST: readonly [model: string, roles: readonly ImageRole[], prices: readonly PerSecond[]][] = [
  [
    'viduq3-pro',
    FRAMES,
    [
      ['540p', 9],
      ['720p', 20],
      ['1080p', 24],
    ],
  ],
  [
    'viduq4-preview',
    ['none', 'first_frame', 'references'],
    [
      ['540p', 9],
      ['720p', 19],
      ['1080p', 24],
    ],
  ],
  [
    'viduq3-turbo',
    FRAMES,
    [
      ['540p', 7],
      ['720p', 11],
      ['1080p', 13],
    ],
  ],
  [
    'viduq3-turbo',
    ['references'],
    [
      ['540p', 4],
      ['720p', 10],
      ['1080p', 13],
    ],
  ],
  [
    'viduq3-pro-fast',
    ['first_frame'],
    [
      ['720p', 20],
      ['1080p', 25],
    ],
  ],
  [
    'viduq3',
    ['references'],
    [
      ['540p', 7],
      ['720p', 12],
      ['1080p', 15],
    ],
  ],
  [
    'viduq3-mix',
    ['references'],
    [
      ['720p', 24],
      ['1080p', 29],
    ],
  ],
];
const INPUT_IMAGES: Readonly<Record<ImageRole, number>> = {
  none: 0,
  first_frame: 1,
  last_frame: 1,
  first_and_last_frame: 2,
  references: 7,
  first_frame_and_references: 8,
};

export const ROWS: readonly PricingRow[] = LIST.flatMap(([model, roles, prices]) =>
  roles.flatMap((imageRole) =>
    prices.flatMap(([resolution, credits]) =>
      [1, 5, 16].flatMap((seconds) =>
        [true, false].map((audio) => ({
          model,
          order: { seconds, resolution, audio, imageRole, inputImages: INPUT_IMAGES[imageRole] },
          credits: String(credits * seconds),
        })),
      ),
    ),
  ),
);
