// The model catalogue: what each model offers and what it costs. One declaration of every member of
// catalog.json gives its type, its check at start (parse-catalog.ts) and its JSON Schema
// (catalog.schema.json).
import { z } from 'zod';
import { parseCredits, type MicroCredits } from '../credits.ts';
import { TASK_MODES } from '../tasks.ts';
import { ADAPTERS, type AdapterName } from './adapters.ts';
import { IMAGE_ROLES, LIMITS } from './limits.ts';
import { UPSTREAM } from './upstream.ts';

export { IMAGE_FORMATS, IMAGE_ROLES, LIMITS } from './limits.ts';
export type { Combination, Durations, ImageLimits, ImageRole, ModelLimits } from './limits.ts';

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

const text = z.string().min(1);
const count = z.int().min(0);

const CREDITS = z.union([z.number(), z.string()]).transform((credits, context): MicroCredits => {
  try {
    return parseCredits(credits);
  } catch {
    const message = 'expected an amount of credits with at most 6 decimals';
    context.issues.push({ code: 'custom', message, input: credits });
    return z.NEVER;
  }
});

const PRICE_CONDITION = z
  .strictObject({
    resolution: text.exactOptional(),
    audio: z.boolean().exactOptional(),
    duration: count.exactOptional().describe('In seconds.'),
    imageRole: z.enum(IMAGE_ROLES).exactOptional(),
    inputVideo: z.boolean().exactOptional().describe('Whether the order has input videos.'),
    promptTokensMax: count
      .exactOptional()
      .describe('For prompts of at most so many tokens: long prompts have prices of their own.'),
    promptTokensAbove: count.exactOptional().describe('For prompts of more than so many tokens.'),
  })
  .describe('Every member that is present has to match the order.');

const PRICE_LINE = z
  .strictObject({
    item: text.describe('The name of the line in estimates.'),
    meter: z.enum(Object.keys(METERS) as Meter[]).describe('What is counted.'),
    credits: CREDITS.describe('Credits for one unit of the meter, at most 6 decimals.'),
    free: count.default(0).describe('So many units cost nothing.'),
    when: PRICE_CONDITION.default({}),
  })
  .describe('One line of a price list.');

export const DEFAULTS = z
  .strictObject({
    outputTokens: count
      .exactOptional()
      .describe(
        'Of an answer without a limit of the caller: so many are reserved at least, and more as the credits allow.',
      ),
    duration: count.exactOptional().describe('In seconds.'),
    resolution: text.exactOptional(),
    ratio: text.exactOptional(),
    audio: z.boolean().exactOptional(),
    quality: text.exactOptional(),
  })
  .describe('Values for what a caller leaves out, so that a vendor’s default never decides.');

const TOKEN_FORMULA = z
  .strictObject({
    framesPerSecond: count,
    framesExtra: count.default(0).describe('Frames of every video beyond those of its seconds.'),
    pixelsPerToken: count,
    framePixels: z
      .array(z.strictObject({ resolution: text, ratio: text, pixels: count }))
      .describe('The pixels of one frame. A ratio that is not listed counts as the largest frame.'),
  })
  .describe(
    'How a vendor that bills tokens counts those of a video: by the pixels and the number of frames.',
  );

export const MODEL = z
  .strictObject({
    id: text,
    kind: z.enum(TASK_MODES),
    family: text.describe('Names the settings of the vendor: base URL and credentials.'),
    adapter: z
      .enum(Object.keys(ADAPTERS) as AdapterName[], {
        error: (issue) => `there is no adapter ${JSON.stringify(issue.input)}`,
      })
      .describe('Name of the adapter in the provider registry.'),
    upstreamModel: text.describe('What the vendor calls this model.'),
    upstreams: z
      .array(UPSTREAM)
      .default([])
      .describe('Of a text model: where it can be had. Empty: at the family above.'),
    billingMode: z.enum(BILLING_MODES),
    price: z.array(PRICE_LINE),
    free: z.boolean().default(false).describe('Permits that the work has no price, or the price 0.'),
    limits: LIMITS,
    defaults: DEFAULTS.default({}),
    refusesPromptFlags: z
      .boolean()
      .default(false)
      .describe(
        'The vendor reads options such as `--duration 30` out of the prompt, beside the parameters that were priced: ' +
          'such prompts are refused.',
      ),
    endedOn: text
      .exactOptional()
      .describe(
        'ISO date on which the vendor itself stopped serving this model: it is offered only where the setting of the ' +
          'base URL names another address than the vendor’s.',
      ),
    silentAtVertexOnly: z
      .boolean()
      .default(false)
      .describe(
        'Elsewhere than at Vertex every video has sound: silence is offered where the base URL is Vertex.',
      ),
    vertexOnly: z
      .boolean()
      .default(false)
      .describe(
        'Google itself serves it on Vertex alone: it is not offered where the base URL is that of the Gemini API.',
      ),
    plainKeysOnly: z
      .boolean()
      .default(false)
      .describe(
        'The vendor takes no pairs of access key and secret key for this model, only plain API keys.',
      ),
    tokens: TOKEN_FORMULA.nullable().default(null),
    unconfirmed: z
      .array(text)
      .default([])
      .describe('Figures of this entry that no page of the vendor confirms; listed in docs/models.md.'),
    imagesEndpoint: z
      .boolean()
      .default(false)
      .describe('Marks the one model of POST /v1/images/generations.'),
    created: count.describe('Unix seconds.'),
  })
  .describe('One model: what may be ordered, and what it costs.');

export const CATALOG_FILE = z
  .strictObject({
    $schema: z.string().exactOptional(),
    effectiveFrom: text.describe('ISO date from which these prices hold.'),
    models: z.array(MODEL),
  })
  .describe('The models that the gateway offers.');

export type Model = z.output<typeof MODEL>;
export type PriceLine = z.output<typeof PRICE_LINE>;

export interface Catalog {
  /** ISO date from which these prices hold. */
  effectiveFrom: string;
  models: ReadonlyMap<string, Model>;
}
