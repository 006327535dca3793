// MiniMax: dollars of the vendor's list times 200; for a whole video (Hailuo), and for a second, input videos
// too (H3).
import type { PricingRow } from './row.ts';

type Whole = readonly [resolution: string, seconds: number, credits: number];

const VIDEOS: readonly [model: string, prices: readonly Whole[]][] = [
  [
    'minimax-hailuo-2.3',
    [
      ['768p', 6, 56],
      ['768p', 10, 112],
      ['1080p', 6, 98],
    ],
  ],
  [
    'minimax-hailuo-2.3-fast',
    [
      ['768p', 6, 38],
      ['768p', 10, 64],
      ['1080p', 6, 66],
    ],
  ],
  [
    'minimax-hailuo-02',
    [
      ['512p', 6, 20],
      ['512p', 10, 30],
      ['768p', 6, 56],
      ['768p', 10, 112],
      ['1080p', 6, 98],
    ],
  ],
];

const SECONDS: readonly [model: string, resolution: string, credits: number][] = [
  ['minimax-h3', '768p', 16],
  ['minimax-h3', '2K', 26],
  ['minimax-h3-max', '480p', 10],
  ['minimax-h3-max', '768p', 16],
];

const whole: PricingRow[] = VIDEOS.flatMap(([model, prices]) =>
  prices.flatMap(([resolution, seconds, credits]) => [
    { model, order: { seconds, resolution }, credits: String(credits) },
    {
      model,
      order: { seconds, resolution, inputImages: 1, imageRole: 'first_frame' as const },
      credits: String(credits),
    },
  ]),
);

const perSecond: PricingRow[] = SECONDS.flatMap(([model, resolution, credits]) =>
  [5, 8, 15].flatMap((seconds) => [
    { model, order: { seconds, resolution, audio: true }, credits: String(credits * seconds) },
    {
      model,
      order: {
        seconds,
        resolution,
        audio: true,
        inputImages: 2,
        imageRole: 'first_and_last_frame' as const,
      },
      credits: String(credits * seconds),
    },
    ...(model === 'minimax-h3' ? [withVideos(resolution, seconds, credits)] : []),
  ]),
);

function withVideos(resolution: string, seconds: number, credits: number): PricingRow {
  const order = { seconds, resolution, audio: true, inputVideos: 2, inputVideoSeconds: 30 };
  return { model: 'minimax-h3', order, credits: String(credits * (seconds + 30)) };
}

/** Orders with reference images, of which five are free. */
const references: PricingRow[] = (
  [
    ['minimax-h3', 5, '80'],
    ['minimax-h3', 6, '88'],
    ['minimax-h3', 9, '112'],
  ] as const
).map(([model, inputImages, credits]) => ({
  model,
  order: { seconds: 5, resolution: '768p', audio: true, inputImages, imageRole: 'references' },
  credits,
}));

export const ROWS: readonly PricingRow[] = [...whole, ...perSecond, ...references];
