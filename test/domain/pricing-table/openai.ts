// OpenAI's images: a price per picture and resolution, which the specification sets.
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

const MODELS = ['gpt-image-2', 'gpt-image-2.5-flare'];

export const ROWS: readonly PricingRow[] = MODELS.flatMap(rowsOf);

function rowsOf(model: string): PricingRow[] {
  return LIST.flatMap(([resolution, credits]) => [
    ...RATIOS.map((ratio) => rowOf(model, resolution, ratio, 1, credits)),
    rowOf(model, resolution, '1:1', 4, credits * 4),
    rowOf(model, resolution, '16:9', 10, credits * 10),
    {
      model,
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
}

function rowOf(
  model: string,
  resolution: string,
  ratio: string,
  images: number,
  credits: number,
): PricingRow {
  return {
    model,
    order: { mode: 'image', images, resolution, ratio },
    credits: String(credits),
  };
}
