// Checks the messages of a chat request or a text task: their schema, and parts that are not offered.
import { z } from 'zod';
import { GatewayError } from '../../domain/errors.ts';
import { oneOf } from '../http/request-fields.ts';
import { checkInputImage } from '../../domain/files/input-images.ts';

const MESSAGES_MAX = 5_000;
const ROLES = ['developer', 'system', 'user', 'assistant', 'tool', 'function'] as const;

const MESSAGE = z.looseObject({
  role: oneOf(ROLES),
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string() }))], 'must be a text or a list of parts')
    .nullish(),
});

export const CHAT_MESSAGES = z
  .array(MESSAGE)
  .min(1, 'must hold a message')
  .max(MESSAGES_MAX, `must hold at most ${MESSAGES_MAX} messages`);

/**
 * Throws a GatewayError that names the part. Audio is refused because its tokens have a price of their own,
 * which the catalogue does not hold. Image URLs are checked because upstreams fetch them, some from inside
 * private networks.
 */
export function checkMessageParts(messages: z.output<typeof CHAT_MESSAGES>): void {
  for (const [index, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue;
    for (const [part, { type, image_url: image }] of content.entries()) {
      const path = `messages[${index}].content[${part}]`;
      if (type === 'input_audio') throw notOffered(`${path}.type`);
      if (type !== 'image_url') continue;
      const param = `${path}.image_url`;
      const url: unknown = typeof image === 'object' && image !== null ? Reflect.get(image, 'url') : image;
      if (typeof url !== 'string')
        throw new GatewayError('invalid_value', { param, message: `${param} must hold a url.` });
      checkInputImage(url, `${param}.url`);
    }
  }
}

export function notOffered(param: string): GatewayError {
  return new GatewayError('invalid_value', { param, message: `${param}: this is not offered.` });
}
