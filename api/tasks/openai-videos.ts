// Reads the requests of OpenAI's Videos API, as JSON or as a form, into orders of ours.
import { z } from 'zod';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { readPixelSize } from '../../domain/orders/pixel-sizes.ts';
import { fileOfForm, idText, NOT_BLANK, oneOf, queryInteger, readBody } from '../http/request-fields.ts';
import { VIDEO_METADATA_OF_FORMS } from './metadata.ts';
import type { TaskRequest } from './price-request.ts';
import { renameFields } from './renamed-fields.ts';
import { readVideoRequest } from './task-requests.ts';

/** OpenAI's own default. */
const DEFAULT_MODEL = 'sora-2';
const SECONDS_RULE = 'must be a whole number of seconds';
const PICTURE = 'input_reference';

const secondsText = z.string().regex(/^[1-9]\d{0,3}$/, SECONDS_RULE);

/** Schema of the body. A form sends everything as text, and OpenAI's clients send the seconds as one. */
export const OPENAI_VIDEO_BODY = z.object({
  model: z.string().min(1, 'must not be empty').max(200).default(DEFAULT_MODEL),
  prompt: z.string().meta({ minLength: 1, pattern: NOT_BLANK }),
  seconds: z
    .union([secondsText, z.int().min(1).max(9_999)], SECONDS_RULE)
    .optional()
    .describe('See the model’s `limits.durations`.'),
  size: z
    .string()
    .max(100)
    .optional()
    .describe('In pixels, such as `1280x720`, or as a ratio, such as `16:9`, beside `resolution`.'),
  input_reference: z
    .union(
      [z.string().min(1), z.looseObject({ image_url: z.string().min(1) })],
      'must be a picture, or an object with its image_url',
    )
    .optional()
    .describe('The first frame: a file of the form, a data URI, an https URL, or `{ "image_url": … }`.'),
  resolution: z.string().max(100).optional().describe('Not OpenAI’s; see the model’s `limits.resolutions`.'),
  metadata: VIDEO_METADATA_OF_FORMS.optional(),
});

/** Schema of the body as a form, in which a file is a picture. */
export const OPENAI_VIDEO_FORM = OPENAI_VIDEO_BODY.extend({
  seconds: secondsText.optional(),
  input_reference: fileOfForm(
    'The first frame: PNG, JPEG or WebP. An https URL or data URI as a text is read too.',
  ).optional(),
});

export const OPENAI_VIDEO_LIST_QUERY = z.object({
  after: idText('task').optional().describe('The `last_id` of the page before.'),
  limit: queryInteger(1, 100, 20),
  order: oneOf(['asc', 'desc']).default('desc').describe('By the time of creation.'),
});

export const OPENAI_VIDEO_CONTENT_QUERY = z.object({
  variant: oneOf(['video', 'thumbnail']).default('video'),
});

/** Our names of the fields that OpenAI calls otherwise. */
const NAMES: Readonly<Record<string, string>> = { duration: 'seconds', 'image_urls[0]': PICTURE };

/** Names the caller's own fields in what the creation of a video is rejected with. */
export const renameVideoFields = renameFields((param) => NAMES[param]);

export function readOpenaiVideoRequest(body: unknown, { models }: Catalog): TaskRequest {
  const { size, seconds, input_reference: picture, ...rest } = readBody(OPENAI_VIDEO_BODY, body);
  const limits = models.get(rest.model)?.limits;
  const sized = size === undefined ? {} : readSize(size, limits && readPixelSize(size, limits), rest);
  const image = typeof picture === 'object' ? picture.image_url : picture;
  const request = readVideoRequest({
    ...rest,
    ...sized,
    ...(seconds !== undefined && { duration: Number(seconds) }),
    ...(image !== undefined && { image_urls: [image] }),
  });
  const images = request.images.map(({ url, param }) => ({ url, param: NAMES[param] ?? param }));
  return { ...request, images };
}

/** The ratio and resolution that a size stands for. Throws 400 when another resolution is named beside it. */
function readSize(
  size: string,
  known: { resolution?: string; ratio: string } = { ratio: size },
  { resolution, metadata }: ResolutionFields,
): { size: string; resolution?: string } {
  const named = resolution ?? metadata?.resolution;
  if (known.resolution !== undefined && named !== undefined && named !== known.resolution) {
    const message = 'size and resolution contradict each other.';
    throw new GatewayError('conflicting_params', { param: 'resolution', message });
  }
  return {
    size: known.ratio,
    ...(named === undefined && known.resolution !== undefined && { resolution: known.resolution }),
  };
}

type ResolutionFields = Pick<z.output<typeof OPENAI_VIDEO_BODY>, 'resolution' | 'metadata'>;
