// Kling: dollars of the vendor's list for one second, or 0.14 for a unit, times 200.
import type { PricingRow } from './row.ts';

type PerSecond = readonly [resolution: string, audio: boolean | null, credits: number];

const LIST: readonly [model: string, seconds: readonly number[], prices: readonly PerSecond[]][] = [
  [
    'kling-v2-5-turbo',
    [5, 10],
    [
      ['720p', null, 8.4],
      ['1080p', null, 14],
    ],
  ],
  [
    'kling-v2-6',
    [5, 10],
    [
      ['720p', false, 8.4],
      ['1080p', false, 14],
      ['1080p', true, 28],
    ],
  ],
  [
    'kling-3.0',
    [3, 5, 15],
    [
      ['720p', false, 16.8],
      ['1080p', false, 22.4],
      ['4k', false, 84],
      ['720p', true, 25.2],
      ['1080p', true, 33.6],
      ['4k', true, 84],
    ],
  ],
  [
    'kling-3.0-turbo',
    [3, 5, 15],
    [
      ['720p', true, 22.4],
      ['1080p', true, 28],
    ],
  ],
  [
    'kling-3.0-omni',
    [3, 5, 15],
    [
      ['720p', false, 16.8],
      ['1080p', false, 22.4],
      ['720p', true, 22.4],
      ['1080p', true, 28],
      ['4k', false, 84],
      ['4k', true, 84],
    ],
  ],
];

/** Every use of input images, which cost nothing. */
const FRAMES = [
  {},
  { inputImages: 1, imageRole: 'first_frame' },
  { inputImages: 2, imageRole: 'first_and_last_frame' },
] as const;

const listed: PricingRow[] = LIST.flatMap(([model, durations, prices]) =>
  durations.flatMap((seconds) =>
    prices.flatMap(([resolution, audio, credits]) =>
      FRAMES.map((frames) => ({
        model,
        order: { seconds, resolution, audio, ...frames },
        credits: (credits * seconds).toFixed(1),
      })),
    ),
  ),
);

export const ROWS: readonly PricingRow[] = [
  ...listed,
  {
    model: 'kling-3.0-omni',
    order: { seconds: 5, resolution: '720p', audio: true, inputImages: 7, imageRole: 'references' },
    credits: '112',
  },
  {
    model: 'kling-3.0-omni',
    order: { seconds: 5, resolution: '720p', audio: false, inputVideos: 1 },
    credits: '126',
  },
  {
    model: 'kling-3.0-omni',
    order: {
      seconds: 10,
      resolution: '1080p',
      audio: false,
      inputVideos: 1,
      inputImages: 2,
      imageRole: 'references',
    },
    credits: '336',
  },
];
