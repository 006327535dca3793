// Checks the messages of a chat request or a text task: their schema, and parts that are not offered.
import { z } from 'zod';
import { GatewayError } from '../../../domain/errors.ts';
import { cutText } from '../../../domain/cut-text.ts';
import type { SentImage } from '../../uploads/input-images.ts';
import { oneOf } from '../../http/request-fields.ts';
import { TEXT_FIELDS } from '../../../providers/chat/prompt.ts';
import { checkInputImage } from '../../../domain/files/input-images.ts';

const MESSAGES_MAX = 5_000;
/** Each is looked at before the call is made. */
const IMAGES_MAX = 500;
/** Parts whose tokens the catalogue prices. */
const PART_TYPES: readonly string[] = ['text', 'refusal', 'image_url'];
const MEDIA_NAME = /ur[il]s?$|^file|^input[_-]?(?:audio|image|video|file)|^(?:audio|images?|videos?)$/i;
/** Fields of a message that are read as text or looked at part by part. */
const NO_MEDIA_FIELDS = [...TEXT_FIELDS, 'content'];
const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] as const;

const MESSAGE = z.looseObject({
  role: oneOf(ROLES),
  content: z
    .union(
      [z.string(), z.array(z.looseObject({ type: z.string().meta({ enum: [...PART_TYPES] }) }))],
      'must be a text or a list of parts',
    )
    .nullish(),
});

export const CHAT_MESSAGES = z
  .array(MESSAGE)
  .min(1, 'must hold a message')
  .max(MESSAGES_MAX, `must hold at most ${MESSAGES_MAX} messages`);

/**
 * Checks the parts of all messages, and returns the images among them. Throws a GatewayError that names
 * the part: audio, videos and files have prices of their own, which the catalogue does not hold, and an
 * upstream would fetch what they lead to, perhaps from inside a private network.
 */
export function checkMessageParts(messages: z.output<typeof CHAT_MESSAGES>): SentImage[] {
  const images = messages.flatMap((message, index) => {
    const { content } = message;
    const path = `messages[${index}]`;
    rejectMedia(message, path, NO_MEDIA_FIELDS);
    if (!Array.isArray(content)) return [];
    return content.flatMap((part, partIndex) => checkPart(part, `${path}.content[${partIndex}]`));
  });
  if (images.length > IMAGES_MAX) {
    const message = `messages may hold at most ${IMAGES_MAX} images.`;
    throw new GatewayError('invalid_value', { param: 'messages', message });
  }
  return images;
}

/** The error of a field, or of its value, that is not offered. */
export function notOffered(param: string, value = 'this'): GatewayError {
  return new GatewayError('invalid_value', {
    param,
    message: `${param}: ${cutText(value, 50)} is not offered.`,
  });
}

function checkPart(part: { [field: string]: unknown; type: string }, path: string): SentImage[] {
  const { type, image_url: image } = part;
  if (!PART_TYPES.includes(type)) throw notOffered(`${path}.type`, type);
  if (type !== 'image_url') {
    rejectMedia(part, path);
    return [];
  }
  rejectMedia(part, path, ['image_url']);
  const param = `${path}.image_url`;
  const isObject = typeof image === 'object' && image !== null;
  const url: unknown = isObject ? Reflect.get(image, 'url') : image;
  if (typeof url !== 'string')
    throw new GatewayError('invalid_value', { param, message: `${param} must hold a url.` });
  if (isObject) rejectMedia(image, param, ['url']);
  checkInputImage(url, `${param}.url`);
  return [{ url, param: `${param}.url` }];
}

/**
 * Throws for a field, at any depth and in any spelling, that carries a medium or leads to one; fields of the
 * value itself that are `checked` are not looked at.
 */
function rejectMedia(value: object, path: string, checked: readonly string[] = []): void {
  for (const name in value) {
    const member: unknown = Reflect.get(value, name);
    if (member === null || checked.includes(name)) continue;
    const isMedium = MEDIA_NAME.test(name);
    if (!isMedium && typeof member !== 'object') continue;
    const param = Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`;
    if (isMedium) throw notOffered(param);
    if (typeof member === 'object' && member !== null) rejectMedia(member, param);
  }
}
