// The model catalogue: what each model offers and what it costs. Data comes from catalog.json and is checked at start.
import { Reader } from './catalog-reader.ts';
import type { MicroCredits } from './credits.ts';
import { TASK_MODES, type TaskMode } from './tasks.ts';

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

/** Reads a parsed catalog.json. Throws one Error that names every problem with its path. */
export function parseCatalog(json: unknown): Catalog {
  const problems: string[] = [];
  const root = new Reader(json, 'catalog', problems);
  const effectiveFrom = root.text('effectiveFrom');
  const models = root.list('models').map(readModel);
  const byId = new Map(models.map((model) => [model.id, model]));
  if (byId.size !== models.length) problems.push('catalog.models: an id stands twice');
  for (const model of models) problems.push(...findUnpriced(model));
  if (models.filter((model) => model.imagesEndpoint).length > 1)
    problems.push('catalog.models: more than one model is marked imagesEndpoint');
  if (problems.length > 0) throw new Error(`The model catalogue is not valid:\n  ${problems.join('\n  ')}`);
  return { effectiveFrom, models: byId };
}

/** What comes on top of the work: alone, these price nothing. */
const EXTRAS: readonly Meter[] = ['input_images', 'input_video_seconds'];

/** Work without a price would be free. */
function findUnpriced({ id, limits, price }: Model): string[] {
  const offered = limits.resolutions ?? [undefined];
  const unpriced = offered.filter((resolution) => {
    const isPriced = ({ meter, when, credits }: PriceLine): boolean => {
      const fits = when.resolution === undefined || when.resolution === resolution;
      return fits && !EXTRAS.includes(meter) && credits > 0n;
    };
    return !price.some(isPriced);
  });
  return unpriced.map((resolution) => `catalog.models: ${id} has no price for ${resolution ?? 'its work'}`);
}

function readModel(reader: Reader): Model {
  const limits = reader.child('limits');
  const defaults = reader.child('defaults');
  return {
    id: reader.text('id'),
    kind: reader.oneOf('kind', TASK_MODES),
    family: reader.text('family'),
    adapter: reader.text('adapter'),
    upstreamModel: reader.text('upstreamModel'),
    upstreams: reader.has('upstreams') ? reader.list('upstreams').map(readUpstream) : [],
    billingMode: reader.oneOf('billingMode', BILLING_MODES),
    price: reader.list('price').map(readPriceLine),
    limits: {
      promptCharactersMax: limits.integer('promptCharactersMax'),
      ...limits.optional('durations', () => readDurations(limits.child('durations'))),
      ...limits.optional('resolutions', () => limits.texts('resolutions')),
      ...limits.optional('ratios', () => limits.texts('ratios')),
      ...limits.optional('combinations', () => limits.list('combinations').map(readCombination)),
      ...limits.optional('audio', () => limits.flags('audio')),
      ...limits.optional('imagesMax', () => limits.integer('imagesMax')),
      ...limits.optional('inputImagesMin', () => limits.integer('inputImagesMin')),
      ...limits.optional('inputImagesMax', () => limits.integer('inputImagesMax')),
      ...limits.optional('frameImagesMax', () => limits.integer('frameImagesMax')),
      ...limits.optional('referenceImagesMax', () => limits.integer('referenceImagesMax')),
      ...limits.optional('inputImagesAsUrls', () => limits.flag('inputImagesAsUrls')),
      ...limits.optional('contextTokens', () => limits.integer('contextTokens')),
      ...limits.optional('outputTokensMax', () => limits.integer('outputTokensMax')),
      ...limits.optional('inputVideosMax', () => limits.integer('inputVideosMax')),
      ...limits.optional('inputVideoSecondsMax', () => limits.integer('inputVideoSecondsMax')),
      ...limits.optional('inputVideoSecondsTotalMax', () => limits.integer('inputVideoSecondsTotalMax')),
    },
    defaults: {
      ...defaults.optional('duration', () => defaults.integer('duration')),
      ...defaults.optional('resolution', () => defaults.text('resolution')),
      ...defaults.optional('ratio', () => defaults.text('ratio')),
      ...defaults.optional('outputTokens', () => defaults.integer('outputTokens')),
      ...defaults.optional('audio', () => defaults.flag('audio')),
    },
    refusesPromptFlags: reader.has('refusesPromptFlags') && reader.flag('refusesPromptFlags'),
    tokens: reader.has('tokens') ? readTokenFormula(reader.child('tokens')) : null,
    unconfirmed: reader.has('unconfirmed') ? reader.texts('unconfirmed') : [],
    imagesEndpoint: reader.has('imagesEndpoint') && reader.flag('imagesEndpoint'),
    created: reader.integer('created'),
  };
}

function readPriceLine(reader: Reader): PriceLine {
  const when = reader.child('when');
  return {
    item: reader.text('item'),
    meter: reader.oneOf('meter', Object.keys(METERS) as Meter[]),
    credits: reader.credits('credits'),
    free: reader.has('free') ? reader.integer('free') : 0,
    when: {
      ...when.optional('resolution', () => when.text('resolution')),
      ...when.optional('audio', () => when.flag('audio')),
      ...when.optional('duration', () => when.integer('duration')),
      ...when.optional('imageRole', () => when.oneOf('imageRole', IMAGE_ROLES)),
      ...when.optional('inputVideo', () => when.flag('inputVideo')),
      ...when.optional('promptTokensMax', () => when.integer('promptTokensMax')),
      ...when.optional('promptTokensAbove', () => when.integer('promptTokensAbove')),
    },
  };
}

function readDurations(reader: Reader): Durations {
  if (reader.has('values')) return { values: reader.integers('values') };
  return { min: reader.integer('min'), max: reader.integer('max') };
}

function readCombination(reader: Reader): Combination {
  return {
    ...reader.optional('resolution', () => reader.text('resolution')),
    ...reader.optional('imageRole', () => reader.oneOf('imageRole', IMAGE_ROLES)),
    ...reader.optional('inputVideo', () => reader.flag('inputVideo')),
    ...reader.optional('durations', () => readDurations(reader.child('durations'))),
    ...reader.optional('resolutions', () => reader.texts('resolutions')),
    ...reader.optional('audio', () => reader.flags('audio')),
    ...reader.optional('inputVideosMax', () => reader.integer('inputVideosMax')),
  };
}

function readUpstream(reader: Reader): Upstream {
  return {
    family: reader.text('family'),
    upstreamModel: reader.text('upstreamModel'),
    priority: reader.has('priority') ? reader.integer('priority') : 1,
    weight: reader.has('weight') ? reader.integer('weight') : 1,
  };
}

function readTokenFormula(reader: Reader): TokenFormula {
  return {
    framesPerSecond: reader.integer('framesPerSecond'),
    framesExtra: reader.has('framesExtra') ? reader.integer('framesExtra') : 0,
    pixelsPerToken: reader.integer('pixelsPerToken'),
    framePixels: reader.list('framePixels').map((entry) => ({
      resolution: entry.text('resolution'),
      ratio: entry.text('ratio'),
      pixels: entry.integer('pixels'),
    })),
  };
}
