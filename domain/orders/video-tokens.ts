// How many tokens a video has at a vendor that bills tokens: pixels of all frames, divided by a constant.
import type { Model } from '../catalog/catalog.ts';

export interface MeasuredVideo {
  seconds: number;
  resolution: string | null;
  ratio: string | null;
  inputVideos: number;
  inputVideoSeconds: number;
}

/**
 * The most the vendor can count, rounded up; 0 for a model without a formula. Seconds of input videos count
 * as seconds of output.
 */
export function countVideoTokens(model: Model, video: MeasuredVideo): number {
  const { tokens } = model;
  if (!tokens) return 0;
  const seconds = video.seconds + video.inputVideoSeconds;
  const frames = seconds * tokens.framesPerSecond + (1 + video.inputVideos) * tokens.framesExtra;
  const sizes = tokens.framePixels.filter(({ resolution }) => resolution === video.resolution);
  const exact = sizes.filter(({ ratio }) => ratio === video.ratio);
  // A ratio that follows the input, such as "adaptive", may become any: the largest frame counts.
  const pixels = Math.max(0, ...(exact.length > 0 ? exact : sizes).map((size) => size.pixels));
  return Math.ceil((frames * pixels) / tokens.pixelsPerToken);
}
