// JSON of the catalogue's models.
import { z } from 'zod';
import {
  IMAGE_FORMATS,
  IMAGE_ROLES,
  METERS,
  type Combination,
  type ImageLimits,
  type Model,
  type ModelLimits,
  type PriceLine,
} from '../../domain/catalog/catalog.ts';
import { billingMode, credits, mode, unixSeconds } from './basics.ts';

const durations = z
  .union([z.strictObject({ values: z.array(z.int()) }), z.strictObject({ min: z.int(), max: z.int() })])
  .describe('In whole seconds.');
const count = z.int().min(0);

/**
 * The shape of a combination, with exactly the fields of the catalogue's type, which the compiler compares.
 */
const COMBINATION = z.strictObject({
  resolution: z.string().optional(),
  imageRole: z.enum(IMAGE_ROLES).optional(),
  inputVideo: z.boolean().optional(),
  durations: durations.optional(),
  resolutions: z.array(z.string()).optional(),
  audio: z.array(z.boolean()).optional(),
  inputImagesMax: count.optional(),
  inputVideosMax: count.optional(),
} satisfies Record<keyof Combination, z.ZodType>);
const IMAGE_LIMITS = z
  .strictObject({
    formats: z.array(z.enum(IMAGE_FORMATS)).optional(),
    bytesMax: count.optional(),
    sidePixelsMin: count.optional(),
    sidePixelsMax: count.optional(),
    sidesRatioMax: z.number().optional().describe('Of the longer side to the shorter one.'),
  } satisfies Record<keyof ImageLimits, z.ZodType>)
  .describe('Of each input image; images that are sent as data URIs are held against it at once.');
const LIMITS = z
  .strictObject({
    promptCharactersMax: count,
    durations: durations.optional(),
    resolutions: z.array(z.string()).optional(),
    ratios: z.array(z.string()).optional().describe('Width to height.'),
    combinations: z
      .array(COMBINATION)
      .optional()
      .describe(
        'Where not everything goes with everything: an order that fits `resolution`, `imageRole` and `inputVideo`, as far as they are there, may only have what the others say.',
      ),
    audio: z.array(z.boolean()).optional().describe('Whether sound, silence or both may be ordered.'),
    imagesMax: count.optional().describe('In one order.'),
    inputImagesMin: count.optional(),
    inputImagesMax: count.optional(),
    frameImagesMax: count
      .optional()
      .describe('Of the input images: 1, the first frame; 2, also the last one.'),
    referenceImagesMax: count.optional(),
    lastFrameAlone: z.boolean().optional().describe('`last_frame` may stand without `first_frame`.'),
    frameBesideReferences: z
      .boolean()
      .optional()
      .describe('`first_frame` may stand beside `reference_images`.'),
    inputImagesAsUrls: z.boolean().optional().describe('Input images have to be https URLs, not data URIs.'),
    inputImageLimits: IMAGE_LIMITS.optional(),
    inputVideosMax: count.optional(),
    inputVideoSecondsMax: count.optional().describe('Of each input video.'),
    inputVideoSecondsTotalMax: count.optional().describe('Of all input videos together.'),
    options: z
      .strictObject({
        seed: z.strictObject({ min: z.int(), max: z.int() }).optional(),
        negativePrompt: z.strictObject({ charactersMax: count }).optional(),
        quality: z.array(z.string()).optional(),
        watermark: z.literal(true).optional(),
        promptExtension: z.literal(true).optional(),
      })
      .optional()
      .describe('What `metadata` may hold beside `resolution`, `audio`, `first_frame` and `last_frame`.'),
    contextTokens: count.optional().describe('Prompt and answer together.'),
    outputTokensMax: count.optional().describe('The answer alone.'),
  } satisfies Record<keyof ModelLimits, z.ZodType>)
  .describe('What may be ordered; absent: this model has no such choice.');

/** The shape of the choices of an order, with exactly the fields of the catalogue's type. */
const DEFAULTS = z
  .strictObject({
    outputTokens: count.describe(
      'Reserved at least for an answer without a limit, more as the credits allow.',
    ),
    duration: count.describe('In seconds.'),
    resolution: z.string(),
    ratio: z.string(),
    audio: z.boolean(),
    quality: z.string(),
  } satisfies Record<keyof Model['defaults'], z.ZodType>)
  .describe('What is ordered where an order leaves it out.');

const PRICE_CONDITION = z
  .strictObject({
    resolution: z.string().optional(),
    audio: z.boolean().optional(),
    duration: count.optional(),
    imageRole: z.enum(IMAGE_ROLES).optional(),
    inputVideo: z.boolean().optional(),
    promptTokensMax: count.optional(),
    promptTokensAbove: count.optional(),
  } satisfies Record<keyof PriceLine['when'], z.ZodType>)
  .describe('The orders that the line is for: each member has to match. Empty: all orders.');

const PRICE = z.strictObject({
  item: z.string(),
  unit: z.enum(Object.values(METERS)),
  credits,
  free: count.describe('So many units cost nothing.'),
  when: PRICE_CONDITION,
});

export const MODEL = z
  .strictObject({
    id: z.string(),
    object: z.literal('model'),
    created: unixSeconds,
    owned_by: z.string(),
    kind: mode,
    family: z.string(),
    billing_mode: billingMode,
    limits: LIMITS,
    defaults: DEFAULTS.partial(),
    price: z.array(PRICE),
    usual_seconds: z
      .strictObject({ p50: z.number(), p90: z.number() })
      .nullable()
      .describe('How long its last completed tasks took; null where there are too few.'),
  })
  .meta({ id: 'Model', description: 'A model: what may be ordered, what it costs, how long it takes.' });
export type ModelView = z.output<typeof MODEL>;

export const MODEL_LIST = z.strictObject({ object: z.literal('list'), data: z.array(MODEL) });
