// The model catalogue: what each model offers and what it costs. The data is in catalog.json (see parse-catalog.ts).
import type { MicroCredits } from '../credits.ts';
import type { TaskMode } from '../tasks.ts';

export const BILLING_MODES = ['per_task', 'per_second', 'per_image', 'per_token'] as const;
export type BillingMode = (typeof BILLING_MODES)[number];

/** What a price line counts, and the unit that one price is for. */
export const METERS = {
  tasks: 'task',
  images: 'image',
  seconds: 'second',
  input_images: 'image',
  input_video_seconds: 'second',
  video_tokens: 'million tokens',
  input_tokens: 'million tokens',
  cached_input_tokens: 'million tokens',
  cache_write_tokens: 'million tokens',
  output_tokens: 'million tokens',
} as const;
export type Meter = keyof typeof METERS;

/** One line of a price list: `credits` for one unit of `meter`, where `when` matches the order. */
export interface PriceLine {
  item: string;
  meter: Meter;
  credits: MicroCredits;
  /** So many units cost nothing. */
  free: number;
  when: PriceCondition;
}

/** Every member that is there has to fit the order. */
export interface PriceCondition {
  resolution?: string;
  audio?: boolean;
  /** In seconds. */
  duration?: number;
  imageRole?: ImageRole;
  inputVideo?: boolean;
  /** Long prompts have prices of their own: for prompts of at most, and of more than so many tokens. */
  promptTokensMax?: number;
  promptTokensAbove?: number;
}

/** What a video's input images are for. Frames and references are never mixed. */
export const IMAGE_ROLES = ['none', 'first_frame', 'first_and_last_frame', 'references'] as const;
export type ImageRole = (typeof IMAGE_ROLES)[number];

export type Durations = { values: number[] } | { min: number; max: number };

/** What may be ordered. Absent means: this model has no such choice. */
export interface ModelLimits {
  promptCharactersMax: number;
  durations?: Durations;
  resolutions?: string[];
  ratios?: string[];
  /** Where not every resolution, or not every use of input images, goes with every duration. */
  combinations?: Combination[];
  /** Whether a caller may order sound, silence or both; absent: there is no such choice. */
  audio?: boolean[];
  imagesMax?: number;
  inputImagesMin?: number;
  inputImagesMax?: number;
  /** Of a video's input images: 1, the first frame; 2, also the last one. Absent: 1, where there may be any. */
  frameImagesMax?: number;
  /** Of a video's input images, as references. */
  referenceImagesMax?: number;
  /** Input images have to be https URLs: this model takes no data URIs. */
  inputImagesAsUrls?: boolean;
  inputVideosMax?: number;
  /** Of a text model: prompt and answer together, and the answer alone. */
  contextTokens?: number;
  outputTokensMax?: number;
  /** Of each input video. Nobody measures it before the work, so the estimate counts it as so long. */
  inputVideoSecondsMax?: number;
  /** Of all input videos together, where the vendor takes no more. */
  inputVideoSecondsTotalMax?: number;
}

/** Orders that fit the first three, as far as they are there, may only have what the others say. */
export interface Combination {
  resolution?: string;
  imageRole?: ImageRole;
  inputVideo?: boolean;
  durations?: Durations;
  resolutions?: string[];
  audio?: boolean[];
  inputVideosMax?: number;
}

/** One place where a text model can be had. */
export interface Upstream {
  family: string;
  upstreamModel: string;
  /** 1 is tried first; among equals the weights decide by chance. */
  priority: number;
  weight: number;
}

/** How a vendor that bills tokens counts them: by the pixels of its frames, per resolution, and their number. */
export interface TokenFormula {
  framesPerSecond: number;
  /** Every video has so many frames beyond those of its seconds. */
  framesExtra: number;
  pixelsPerToken: number;
  /** By resolution: the pixels of one frame, for each ratio, or the most of any for a ratio that is not listed. */
  framePixels: { resolution: string; ratio: string; pixels: number }[];
}

/** Concrete values for what a caller leaves out, so that a vendor's default never decides. */
export interface ModelDefaults {
  /** Of an answer for which the caller sets no limit: so much is set aside, and no more is asked for. */
  outputTokens?: number;
  duration?: number;
  resolution?: string;
  ratio?: string;
  audio?: boolean;
}

export interface Model {
  id: string;
  kind: TaskMode;
  family: string;
  /** Name of the adapter in the provider registry. */
  adapter: string;
  /** What the vendor calls this model. */
  upstreamModel: string;
  /** Of a text model: where else it can be had, and in which order; the family above when there is none. */
  upstreams: Upstream[];
  billingMode: BillingMode;
  price: PriceLine[];
  limits: ModelLimits;
  defaults: ModelDefaults;
  /**
   * The vendor reads options such as `--duration 30` out of the prompt, beside the parameters that were priced: such
   * prompts are refused.
   */
  refusesPromptFlags: boolean;
  /** Only of models with a price for `video_tokens`. */
  tokens: TokenFormula | null;
  /** Figures of this entry that no page of the vendor confirms; told in docs/models.md. */
  unconfirmed: string[];
  /** The one model of POST /v1/images/generations. */
  imagesEndpoint: boolean;
  /** Unix seconds. */
  created: number;
}

export interface Catalog {
  /** ISO date from which these prices hold. */
  effectiveFrom: string;
  models: ReadonlyMap<string, Model>;
}
