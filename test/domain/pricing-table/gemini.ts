// Gemini: USD per picture or second of the vendor's list, times 200.
import type { PricingRow } from './row.ts';

const LIST: readonly [model: string, resolution: string, one: string, four: string][] = [
  ['gemini-nano-banana-2.1', '1K', '6.72', '26.88'], // $0.0336
  ['gemini-nano-banana-2.1', '2K', '10.08', '40.32'], // $0.0504
  ['gemini-nano-banana-2.1', '4K', '15.12', '60.48'], // $0.0756
  ['gemini-3.1-flash-lite-image', '1K', '6.72', '26.88'], // $0.0336
  ['gemini-3-pro-image', '1K', '26.8', '107.2'], // $0.134
  ['gemini-3-pro-image', '2K', '26.8', '107.2'],
  ['gemini-3-pro-image', '4K', '48', '192'], // $0.24
];

const IMAGES: readonly PricingRow[] = LIST.flatMap(([model, resolution, one, four]) => [
  { model, order: { mode: 'image', images: 1, resolution, ratio: '1:1' }, credits: one },
  { model, order: { mode: 'image', images: 4, resolution, ratio: '21:9' }, credits: four },
  {
    model,
    order: { mode: 'image', images: 1, resolution, inputImages: 14, imageRole: 'references' },
    credits: one,
  },
]);

/** $17.50 for a million tokens, 5,792 of them for a second of 720p: 20.272 credits, rounded up. */
const OMNI: readonly [resolution: string, perSecond: number][] = [
  ['360p', 7], // $0.0338
  ['720p', 21], // $0.1014
  ['1080p', 31], // $0.1520
];
const VIDEOS: readonly PricingRow[] = OMNI.flatMap(([resolution, perSecond]) =>
  [3, 10].flatMap((seconds) => {
    const order = { seconds, resolution, ratio: '9:16', audio: true };
    const model = 'gemini-omni-1.1-flash';
    const images = { inputImages: 5, imageRole: 'references' } as const;
    return [
      { model, order, credits: String(perSecond * seconds) },
      { model, order: { ...order, ...images }, credits: String(perSecond * seconds + 5) },
    ];
  }),
);

export const ROWS: readonly PricingRow[] = [...IMAGES, ...VIDEOS];
