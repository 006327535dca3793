// Veo: USD per second of Google's list, times 200, the same at both of its services; silent at Vertex.
import type { ImageRole } from '../../../domain/catalog/catalog.ts';
import type { PricingRow } from './row.ts';

const LIST: readonly (readonly [model: string, resolution: string, credits: number])[] = [
  ['veo-3.1', '720p', 80], // $0.40
  ['veo-3.1', '1080p', 80],
  ['veo-3.1', '4k', 120],
  ['veo-3.1-fast', '720p', 20],
  ['veo-3.1-fast', '1080p', 24],
  ['veo-3.1-fast', '4k', 60],
  ['veo-3.1-lite', '720p', 10], // $0.05
  ['veo-3.1-lite', '1080p', 16],
];
const SILENT: typeof LIST = [
  ['veo-3.1', '720p', 40], // $0.20
  ['veo-3.1', '1080p', 40],
  ['veo-3.1', '4k', 80],
  ['veo-3.1-fast', '720p', 16],
  ['veo-3.1-fast', '1080p', 20],
  ['veo-3.1-fast', '4k', 50],
  ['veo-3.1-lite', '720p', 6],
  ['veo-3.1-lite', '1080p', 10],
];
const IMAGES: readonly (readonly [imageRole: ImageRole, inputImages: number])[] = [
  ['none', 0],
  ['first_frame', 1],
  ['first_and_last_frame', 2],
  ['references', 3],
];

const WITH_SOUND: readonly PricingRow[] = ['', '-preview'].flatMap((suffix) =>
  LIST.flatMap(([model, resolution, credits]) =>
    IMAGES.filter(([imageRole]) => imageRole !== 'references' || model !== 'veo-3.1-lite').flatMap(
      ([imageRole, inputImages]) =>
        (resolution === '720p' && imageRole !== 'references' ? [4, 6, 8] : [8]).map((seconds) => ({
          model: `${model}${suffix}`,
          order: { seconds, resolution, audio: true, imageRole, inputImages },
          credits: String(credits * seconds),
        })),
    ),
  ),
);

export const ROWS: readonly PricingRow[] = [
  ...WITH_SOUND,
  ...SILENT.map(([model, resolution, credits]) => ({
    model,
    order: { seconds: 8, resolution, audio: false },
    credits: String(credits * 8),
  })),
];
