// What one model of Wan accepts.

export interface WanLimits {
  readonly durations: readonly [min: number, max: number];
  readonly resolutions: readonly string[];
  /** Empty: the ratio follows the first frame. */
  readonly ratios: readonly string[];
  /** How many of each type of `media`. */
  readonly media: Readonly<Record<string, number>>;
  readonly needsFrame: boolean;
  readonly input: readonly string[];
  readonly parameters: readonly string[];
  /** The model may choose the duration. */
  readonly chooses: boolean;
}
