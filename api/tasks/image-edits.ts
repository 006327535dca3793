// Reads the body of POST /v1/images/edits, a form as OpenAI's clients send it or JSON, into an order of ours.
import { z } from 'zod';
import type { Catalog } from '../../domain/catalog/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { fileOfForm, NOT_BLANK, readBody } from '../http/request-fields.ts';
import { IMAGE_METADATA_OF_FORMS } from './metadata.ts';
import type { TaskRequest } from './price-request.ts';
import { renameFields } from './renamed-fields.ts';
import { readImageRequest } from './task-requests.ts';

const COUNT_RULE = 'must be a whole number';
/** OpenAI's sizes as ratios; `auto` leaves the choice to the model's default. */
const RATIOS: Readonly<Record<string, string | undefined>> = {
  auto: undefined,
  '1024x1024': '1:1',
  '1536x1024': '3:2',
  '1024x1536': '2:3',
};
const OURS = /^(?:image_urls|reference_images)(?=\[|$)/;
const picture = z.string().min(1, 'must not be empty');
const countText = z.string().regex(/^\d{1,3}$/, COUNT_RULE);

/** The fields of the body. A form sends everything as text. */
const EDIT_FIELDS = z.object({
  model: z
    .string()
    .min(1, 'must not be empty')
    .max(200)
    .optional()
    .describe('Any image model that takes input images; absent: the one of /v1/images/generations.'),
  prompt: z.string().meta({ minLength: 1, pattern: NOT_BLANK }),
  image: z
    .union([picture, z.array(picture).min(1)], 'must be a picture or a list of pictures')
    .optional()
    .describe('Files of the form, also as `image[]`; in JSON https URLs or data URIs.'),
  images: z
    .array(z.looseObject({ image_url: picture }))
    .min(1, 'must not be empty')
    .optional()
    .describe('The same in JSON, as OpenAI writes it.'),
  mask: z.null('is not offered: say in the prompt what is to be changed').optional(),
  n: z
    .union([countText, z.number()], COUNT_RULE)
    .optional()
    .describe('How many images: 1 (the default) to 10.'),
  size: z
    .string()
    .max(100)
    .optional()
    .describe('Width to height, such as `3:2`, or OpenAI’s `1024x1024`, `1536x1024`, `1024x1536`, `auto`.'),
  resolution: z.string().max(100).optional().describe('Not OpenAI’s; see the model’s `limits.resolutions`.'),
  response_format: z.enum(['url', 'b64_json'], 'must be url or b64_json').optional(),
  stream: z
    .union([z.literal(false), z.literal('false'), z.null()], 'is not offered on this endpoint')
    .optional(),
  metadata: IMAGE_METADATA_OF_FORMS.optional(),
});

/** Schema of the body as JSON, with pictures in one field or the other. */
export const EDIT_BODY = EDIT_FIELDS.meta({ anyOf: [{ required: ['image'] }, { required: ['images'] }] });

/** Schema of the body as a form, in which files are pictures. */
export const EDIT_FORM = EDIT_FIELDS.omit({ images: true, mask: true }).extend({
  image: z
    .array(
      fileOfForm('PNG, JPEG or WebP, told by its content. An https URL or data URI as a text is read too.'),
    )
    .min(1)
    .describe('One part or several of this name, also as `image[]`.'),
  n: countText.optional(),
  stream: z.literal('false').optional(),
});

/** Names the caller's own fields in what the creation is rejected with. */
export const renameEditFields = renameFields((param) => {
  return OURS.test(param) ? param.replace(OURS, 'image') : undefined;
});

export function readEditRequest(body: unknown, { models }: Catalog): TaskRequest {
  const { image, images, size, n, mask: _mask, stream: _stream, ...rest } = readBody(EDIT_FIELDS, body);
  const pictures = [...(typeof image === 'string' ? [image] : (image ?? []))];
  pictures.push(...(images ?? []).map(({ image_url: url }) => url));
  if (pictures.length === 0)
    throw new GatewayError('missing_field', { param: 'image', message: 'image is required.' });
  const model = rest.model ?? [...models.values()].find(({ imagesEndpoint }) => imagesEndpoint)?.id;
  const ratio = size === undefined || !(size in RATIOS) ? size : RATIOS[size];
  const request = readImageRequest({
    ...rest,
    model,
    ...(n !== undefined && { n: Number(n) }),
    ...(ratio !== undefined && { size: ratio }),
    reference_images: pictures,
  });
  const sent = request.images.map(({ url, param }) => ({ url, param: param.replace(OURS, 'image') }));
  return { ...request, images: sent };
}
