// Wan: the vendor's dollars per second of output, and the same again per second of a reference video.
import type { PricingRow } from './row.ts';

/** The price of one second, in thousandths of a credit. */
const LIST: readonly [model: string, resolution: string, thousandths: number][] = [
  ['wan3.0-video', '480p', 10_000],
  ['wan3.0-video', '720p', 20_000],
  ['wan3.0-video', '1080p', 40_000],
  ['wan3.0-video-prime', '480p', 13_600],
  ['wan3.0-video-prime', '720p', 28_000],
  ['wan3.0-video-prime', '1080p', 56_000],
  ['wan2.7-t2v', '720p', 20_000],
  ['wan2.7-t2v', '1080p', 30_000],
  ['wan2.7-i2v', '720p', 20_000],
  ['wan2.7-i2v', '1080p', 30_000],
  ['wan2.7-r2v', '720p', 20_000],
  ['wan2.7-r2v', '1080p', 30_000],
];

/** What a model cannot be without. */
const INPUTS: Readonly<Record<string, PricingRow['order']>> = {
  'wan2.7-i2v': { inputImages: 1, imageRole: 'first_frame' },
  'wan2.7-r2v': { inputImages: 5, imageRole: 'references' },
};

const plain = LIST.flatMap(([model, resolution, thousandths]) =>
  [2, 5, 15].map((seconds): PricingRow => {
    const inputs = INPUTS[model] ?? {};
    const order = { resolution, seconds, audio: true, ...inputs };
    return { model, order, credits: String((seconds * thousandths) / 1000) };
  }),
);

export const ROWS: readonly PricingRow[] = [
  ...plain,
  { model: 'wan3.0-video', order: { resolution: '480p', seconds: 30, audio: false }, credits: '300' },
  { model: 'wan3.0-video', order: { resolution: '1080p', seconds: 30, audio: true }, credits: '1200' },
  {
    model: 'wan3.0-video',
    order: { resolution: '720p', seconds: 5, audio: true, inputVideos: 1, inputVideoSeconds: 28 },
    credits: '660',
  },
  {
    model: 'wan3.0-video-prime',
    order: { resolution: '1080p', seconds: 10, audio: true, inputVideos: 5, inputVideoSeconds: 28 },
    credits: '2128',
  },
];
