// gpt-image-2: a price per picture and resolution, which the specification sets.
import type { PricingRow } from './row.ts';

const LIST: readonly [resolution: string, credits: number][] = [
  ['1K', 4],
  ['2K', 10],
  ['4K', 18],
];
const RATIOS = [
  '1:1',
  '3:2',
  '2:3',
  '4:3',
  '3:4',
  '5:4',
  '4:5',
  '16:9',
  '9:16',
  '2:1',
  '1:2',
  '21:9',
  '9:21',
];

export const ROWS: readonly PricingRow[] = LIST.flatMap(([resolution, credits]) => [
  ...RATIOS.map((ratio) => rowOf(resolution, ratio, 1, credits)),
  rowOf(resolution, '1:1', 4, credits * 4),
  rowOf(resolution, '16:9', 10, credits * 10),
  {
    model: 'gpt-image-2',
    order: {
      mode: 'image' as const,
      images: 1,
      resolution,
      inputImages: 16,
      imageRole: 'references' as const,
    },
    // 16 input images at 2.6 credits.
    credits: (credits + 41.6).toFixed(1),
  },
]);

function rowOf(resolution: string, ratio: string, images: number, credits: number): PricingRow {
  return {
    model: 'gpt-image-2',
    order: { mode: 'image', images, resolution, ratio },
    credits: String(credits),
  };
}
