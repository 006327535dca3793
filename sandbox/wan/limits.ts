// The limits of one Wan model.

import type { ImageFileLimits } from '../image-files.ts';

export interface WanLimits {
  readonly durations: readonly [min: number, max: number];
  readonly resolutions: readonly string[];
  /** Empty where the first frame determines the ratio. */
  readonly ratios: readonly string[];
  /** Largest number of each type of `media`. */
  readonly media: Readonly<Record<string, number>>;
  readonly imageFiles: ImageFileLimits;
  readonly needsFrame: boolean;
  /** Of references and frames together; absent: frames and references exclude one another. */
  readonly mixedMax?: number;
  /** Names of the fields of `input`. */
  readonly input: readonly string[];
  /** Names of the fields of `parameters`. */
  readonly parameters: readonly string[];
  /** True: the model may choose the duration. */
  readonly canChooseDuration: boolean;
}
