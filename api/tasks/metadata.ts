// Reads `metadata`, the model-specific options of an order; which of them a model has is checked with the
// model.
import { z } from 'zod';
import type { MediaOptions } from '../../domain/orders/order.ts';

/** Of any model; each has a limit of its own. */
const NEGATIVE_PROMPT_CHARACTERS_MAX = 4_000;

const OPTIONS = {
  resolution: z.string().max(100).optional().describe('Another name of `resolution`.'),
  seed: z.number().optional().describe('Makes the same order look alike.'),
  negative_prompt: z
    .string()
    .max(NEGATIVE_PROMPT_CHARACTERS_MAX)
    .optional()
    .describe('What must not be seen.'),
  quality: z.string().max(100).optional(),
  watermark: z
    .boolean()
    .optional()
    .describe('Whether the vendor puts its mark on the work; false unless said.'),
  prompt_extend: z
    .boolean()
    .optional()
    .describe('Whether the vendor may rewrite the prompt; true unless said.'),
};
const DESCRIPTION = 'Options of the model: those it declares in `limits`. Others are refused by name.';

/** The names are read as they are; unknown ones stay, to be refused where the model is known. */
export const IMAGE_METADATA = z.looseObject(OPTIONS).describe(DESCRIPTION);

export const VIDEO_METADATA = z
  .looseObject({
    audio: z.boolean().optional().describe('Whether the video has sound.'),
    first_frame: z
      .string()
      .min(1)
      .optional()
      .describe('The first frame, in place of `image_urls`; of some models also beside `reference_images`.'),
    last_frame: z
      .string()
      .min(1)
      .optional()
      .describe('The last frame, beside `first_frame`; of some models also without.'),
    ...OPTIONS,
  })
  .describe(DESCRIPTION);

const numberOrText = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d{1,15}$/)
      .transform(Number),
  ])
  .optional();
const flagOrText = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])
  .optional();
/** The options that are no text, which forms write as one: `metadata[seed]`. */
const TEXT_OPTIONS = { seed: numberOrText, watermark: flagOrText, prompt_extend: flagOrText };

/** The same where the body may be a form. */
export const IMAGE_METADATA_OF_FORMS = IMAGE_METADATA.extend(TEXT_OPTIONS);
export const VIDEO_METADATA_OF_FORMS = VIDEO_METADATA.extend({ ...TEXT_OPTIONS, audio: flagOrText });

type Metadata = typeof IMAGE_METADATA | typeof VIDEO_METADATA;

/** The options that are handed on with the order, and the names that no model knows. */
export function readOptions(schema: Metadata, metadata: z.output<Metadata> | undefined): MediaOptions {
  if (!metadata) return {};
  const { seed, negative_prompt: negativePrompt, quality, watermark } = metadata;
  const unknown = Object.keys(metadata).filter((name) => !Object.hasOwn(schema.shape, name));
  const promptExtension = metadata.prompt_extend;
  return { seed, negativePrompt, quality, watermark, promptExtension, unknown };
}
