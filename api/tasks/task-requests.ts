// Reads the bodies that ask for a task or its price, on /v1 and in the console.
import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import { TASK_MODES } from '../../domain/tasks.ts';
import { CHAT_MESSAGES, checkMessageParts } from '../chat/request/chat-messages.ts';
import { TOKENS } from '../chat/request/token-limit.ts';
import { maxPromptTokens } from '../../providers/chat/token-bound.ts';
import { NOT_BLANK, oneOf, readBody } from '../http/request-fields.ts';
import { conflict, nameImages, readInputImages, readVideoImages } from './ordered-images.ts';
import { IMAGE_METADATA, readOptions, VIDEO_METADATA } from './metadata.ts';
import type { TaskRequest } from './price-request.ts';

const links = z.array(z.string().min(1, 'must not be empty'));
/** A number that has to be whole: checked where the model is known, with what the model offers. */
const whole = z.number().meta({ type: 'integer', minimum: 1 });
const ratio = z
  .string()
  .max(100)
  .optional()
  .describe('Width to height, such as 16:9; see the model’s `limits.ratios`.');
const IMAGES = 'https URLs, or data URIs of PNG, JPEG or WebP images of at most 20 MiB each.';
const images = links.optional().describe(IMAGES);

const COMMON = {
  model: z
    .string()
    .min(1, 'must not be empty')
    .max(200)
    .describe('The id of a model, as GET /v1/models lists it.'),
  prompt: z
    .string()
    .describe('What you want to see; for images at most 32,000 characters.')
    .meta({ minLength: 1, pattern: NOT_BLANK }),
  size: ratio,
  resolution: z.string().max(100).optional().describe('See the model’s `limits.resolutions`.'),
  image_urls: images,
  reference_images: images.describe('Another name of `image_urls`.'),
};

/** Fields of POST /v1/images/generations, and of the image mode of the console. */
const IMAGE = {
  ...COMMON,
  n: whole.optional().describe('How many images: 1 (the default) to 10.'),
  response_format: z
    .enum(['url', 'b64_json'], 'must be url or b64_json')
    .optional()
    .describe('`b64_json` puts the image into the answer as well.'),
  metadata: IMAGE_METADATA.optional(),
};

/** Fields of POST /v1/videos/generations, and of the video mode of the console. */
const VIDEO = {
  ...COMMON,
  image_urls: images.describe(
    `${IMAGES} One is the first frame, two are the first and the last where the model has both; else references.`,
  ),
  reference_images: images.describe('The same as references, whatever their number.'),
  duration: whole.optional().describe('In whole seconds; see the model’s `limits.durations`.'),
  aspect_ratio: ratio.describe('Another name of `size`.'),
  video_urls: links.optional().describe('https URLs of input videos, for models that take any.'),
  metadata: VIDEO_METADATA.optional(),
};

export const IMAGE_BODY = z.object(IMAGE);
export const VIDEO_BODY = z.object(VIDEO);
const MODE_ONLY = z.object({ mode: oneOf(TASK_MODES) });
const CONSOLE_BODIES = {
  image: z.strictObject({ mode: z.literal('image'), ...IMAGE }),
  video: z.strictObject({ mode: z.literal('video'), ...VIDEO }),
  text: z.strictObject({
    mode: z.literal('text'),
    model: COMMON.model,
    prompt: z.string().optional(),
    messages: CHAT_MESSAGES.optional(),
    max_tokens: TOKENS.optional().describe(
      'The most tokens of the answer; absent: as many as your credits leave room for, up to all the model can.',
    ),
  }),
};
const V1_BODIES = {
  image: IMAGE_BODY,
  video: VIDEO_BODY,
  text: z.object(CONSOLE_BODIES.text.shape).omit({ mode: true }),
};
/** The rule of `textRequest`, for the OpenAPI document. */
const PROMPT_OR_MESSAGES = { oneOf: [{ required: ['prompt'] }, { required: ['messages'] }] };
/** The bodies as alternatives by mode, for the OpenAPI document. */
export const CONSOLE_MODE_BODY = z.discriminatedUnion('mode', [
  CONSOLE_BODIES.image,
  CONSOLE_BODIES.video,
  CONSOLE_BODIES.text.meta(PROMPT_OR_MESSAGES),
]);
export const V1_MODE_BODY = z.discriminatedUnion('mode', [
  V1_BODIES.image.extend({ mode: z.literal('image') }),
  V1_BODIES.video.extend({ mode: z.literal('video') }),
  V1_BODIES.text.extend({ mode: z.literal('text') }).meta(PROMPT_OR_MESSAGES),
]);

export function readImageRequest(body: unknown): TaskRequest {
  return imageRequest(readBody(IMAGE_BODY, body));
}

export function readVideoRequest(body: unknown): TaskRequest {
  return videoRequest(readBody(VIDEO_BODY, body));
}

/**
 * Reads a body with `mode`. The console refuses unknown fields; /v1 ignores them, because clients send
 * extras.
 */
export function readModeRequest(body: unknown, unknownFields: 'refused' | 'ignored'): TaskRequest {
  const { mode } = readBody(MODE_ONLY, body);
  const bodies = unknownFields === 'refused' ? CONSOLE_BODIES : V1_BODIES;
  if (mode === 'image') return imageRequest(readBody(bodies.image, body));
  if (mode === 'video') return videoRequest(readBody(bodies.video, body));
  return textRequest(readBody(bodies.text, body));
}

/** Reads a text task: a conversation, or a prompt that is its only message. */
function textRequest({
  model,
  prompt,
  messages,
  max_tokens: outputTokens,
}: z.output<typeof V1_BODIES.text>): TaskRequest {
  if (prompt !== undefined && messages) throw conflict('prompt', 'messages');
  if (prompt === undefined && !messages)
    throw new GatewayError('missing_field', { param: 'prompt', message: 'prompt or messages is required.' });
  const images = checkMessageParts(messages ?? []);
  const conversation = messages ?? [{ role: 'user', content: prompt ?? '' }];
  return {
    model,
    images,
    input: {
      mode: 'text',
      prompt: prompt ?? JSON.stringify(messages),
      promptTokens: maxPromptTokens({ messages: conversation }),
      outputTokens,
      answers: 1,
      names: { outputTokens: 'max_tokens' },
    },
  };
}

function imageRequest(body: z.output<typeof IMAGE_BODY>): TaskRequest {
  const ordered = readInputImages(body);
  const { name, images } = ordered;
  const { resolution, resolutionName } = readResolution(body);
  return {
    model: body.model,
    images: nameImages(ordered),
    input: {
      mode: 'image',
      prompt: body.prompt,
      images: body.n,
      ratio: body.size,
      resolution,
      inputImages: images,
      responseFormat: body.response_format,
      options: readOptions(IMAGE_METADATA, body.metadata),
      names: { ratio: 'size', resolution: resolutionName, audio: 'metadata.audio', inputImages: name },
    },
  };
}

function videoRequest(body: z.output<typeof VIDEO_BODY>): TaskRequest {
  const ordered = readVideoImages(body);
  const { name, images, role: imageRole } = ordered;
  const ratio = mergeAliases('size', body.size, 'aspect_ratio', body.aspect_ratio);
  const { resolution, resolutionName } = readResolution(body);
  return {
    model: body.model,
    images: nameImages(ordered),
    input: {
      mode: 'video',
      prompt: body.prompt,
      duration: body.duration,
      ratio,
      resolution,
      audio: body.metadata?.audio,
      inputImages: images,
      imageRole,
      inputVideos: body.video_urls ?? [],
      options: readOptions(VIDEO_METADATA, body.metadata),
      names: {
        ratio: body.size === undefined ? 'aspect_ratio' : 'size',
        resolution: resolutionName,
        audio: 'metadata.audio',
        inputImages: name,
      },
    },
  };
}

/** The resolution, and the name under which it was sent. */
function readResolution({ resolution, metadata }: z.output<typeof IMAGE_BODY> | z.output<typeof VIDEO_BODY>) {
  const other = metadata?.resolution;
  return {
    resolution: mergeAliases('resolution', resolution, 'metadata.resolution', other),
    resolutionName: resolution === undefined && other !== undefined ? 'metadata.resolution' : 'resolution',
  };
}

/** Merges two names of one field. Throws 400 when both are sent and differ. */
function mergeAliases(
  name: string,
  value: string | undefined,
  otherName: string,
  other: string | undefined,
): string | undefined {
  if (value !== undefined && other !== undefined && value !== other) throw conflict(name, otherName);
  return value ?? other;
}
