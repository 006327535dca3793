// OpenAI's Videos API: USD per second of its last list, times 200. Sound is always there, a first frame costs
// nothing.
import type { PricingRow } from './row.ts';

const LIST: readonly (readonly [model: string, resolution: string, credits: number])[] = [
  ['sora-2', '720p', 20], // $0.10
  ['sora-2-pro', '720p', 60],
  ['sora-2-pro', '1024p', 100],
  ['sora-2-pro', '1080p', 140], // $0.70
];

export const ROWS: readonly PricingRow[] = LIST.flatMap(([model, resolution, credits]) =>
  [4, 8, 12].flatMap((seconds) =>
    (['none', 'first_frame'] as const).map((imageRole) => ({
      model,
      order: { seconds, resolution, audio: true, imageRole, inputImages: imageRole === 'none' ? 0 : 1 },
      credits: String(credits * seconds),
    })),
  ),
);
