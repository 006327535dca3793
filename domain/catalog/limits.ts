// What may be ordered of a model, as the catalogue declares it.
import { z } from 'zod';

/** What a video's input images are for; a frame beside references is the first of the images. */
export const IMAGE_ROLES = [
  'none',
  'first_frame',
  'last_frame',
  'first_and_last_frame',
  'references',
  'first_frame_and_references',
] as const;
export type ImageRole = (typeof IMAGE_ROLES)[number];

const text = z.string().min(1);
const texts = z.array(text).min(1);
const count = z.int().min(0);
const flags = z.array(z.boolean()).min(1);

const DURATIONS = z
  .union([z.strictObject({ values: z.array(count).min(1) }), z.strictObject({ min: count, max: count })], {
    error: 'expected a list of values, or min and max',
  })
  .describe('In whole seconds.');

const COMBINATION = z
  .strictObject({
    resolution: text.exactOptional(),
    imageRole: z.enum(IMAGE_ROLES).exactOptional(),
    inputVideo: z.boolean().exactOptional(),
    durations: DURATIONS.exactOptional(),
    resolutions: texts.exactOptional(),
    audio: flags.exactOptional(),
    inputImagesMax: count.exactOptional(),
    inputVideosMax: count.exactOptional(),
  })
  .describe('An order that matches the first three, as far as present, may only have what the others say.');

/** The formats that callers may send; see domain/files/media-types.ts. */
export const IMAGE_FORMATS = ['jpeg', 'png', 'webp'] as const;

const IMAGE_LIMITS = z
  .strictObject({
    formats: z.array(z.enum(IMAGE_FORMATS)).min(1).exactOptional(),
    bytesMax: count.exactOptional().describe('Of one file.'),
    sidePixelsMin: count.exactOptional().describe('Of the shorter side.'),
    sidePixelsMax: count.exactOptional().describe('Of the longer side.'),
    sidesRatioMax: z.number().min(1).exactOptional().describe('Of the longer side to the shorter one.'),
  })
  .describe('What the vendor demands of each input image; images behind URLs are not looked at.');

const OPTIONS = z
  .strictObject({
    seed: z.strictObject({ min: z.int(), max: z.int() }).exactOptional(),
    negativePrompt: z.strictObject({ charactersMax: count }).exactOptional(),
    quality: texts.exactOptional(),
    watermark: z.literal(true).exactOptional().describe('The vendor’s own mark, if it is asked for.'),
    promptExtension: z
      .literal(true)
      .exactOptional()
      .describe('The vendor rewrites the prompt, unless it is asked not to.'),
  })
  .describe('What `metadata` may hold beside resolution, sound and frames; the vendor gets it as it is.');

export const LIMITS = z
  .strictObject({
    promptCharactersMax: count,
    durations: DURATIONS.exactOptional(),
    resolutions: texts.exactOptional(),
    ratios: texts.exactOptional().describe('Width to height.'),
    combinations: z
      .array(COMBINATION)
      .exactOptional()
      .describe('Where not every resolution, or not every use of input images, goes with every duration.'),
    audio: flags.exactOptional().describe('Whether a caller may order sound, silence or both.'),
    imagesMax: count.exactOptional().describe('Images that one order may ask for.'),
    inputImagesMin: count.exactOptional(),
    inputImagesMax: count.exactOptional(),
    frameImagesMax: count
      .exactOptional()
      .describe('Of the input images of a video: 1, the first frame; 2, also the last one. Default: 1.'),
    referenceImagesMax: count.exactOptional().describe('Of the input images of a video, as references.'),
    lastFrameAlone: z
      .boolean()
      .exactOptional()
      .describe('`metadata.last_frame` may stand without a first frame.'),
    frameBesideReferences: z
      .boolean()
      .exactOptional()
      .describe('`metadata.first_frame` may stand beside `reference_images`.'),
    inputImagesAsUrls: z
      .boolean()
      .exactOptional()
      .describe('Input images have to be https URLs: this model takes no data URIs.'),
    inputImageLimits: IMAGE_LIMITS.exactOptional(),
    inputVideosMax: count.exactOptional(),
    options: OPTIONS.exactOptional(),
    contextTokens: count.exactOptional().describe('Of a text model: prompt and answer together.'),
    outputTokensMax: count.exactOptional().describe('Of a text model: the answer alone.'),
    inputVideoSecondsMax: count
      .exactOptional()
      .describe('Of each input video. It is not measured before the work: estimates assume this length.'),
    inputVideoSecondsTotalMax: count
      .exactOptional()
      .describe('Of all input videos together, where the vendor limits the sum.'),
  })
  .describe('What may be ordered. Absent: this model has no such choice.');

export type ModelLimits = z.output<typeof LIMITS>;
export type Durations = z.output<typeof DURATIONS>;
export type Combination = z.output<typeof COMBINATION>;
export type ImageLimits = z.output<typeof IMAGE_LIMITS>;
