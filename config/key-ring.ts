// The key ring of SVC_SECRET_KEYS: what is stored is hashed and encrypted with these keys.
import type { z } from 'zod';

const KEY_BYTES = 32;

/**
 * Reads `id:base64url of 32 bytes`, newest first, separated by commas. What is wrong becomes an issue of
 * `context`.
 */
export function parseKeyRing(text: string, context: z.core.$RefinementCtx<string>) {
  const ring = text.split(',').map((part) => {
    const [id = '', encoded = ''] = part.trim().split(':');
    return { id, bytes: Buffer.from(encoded, 'base64url') };
  });
  const isValid = ring.every((key) => /^[\w-]{1,40}$/.test(key.id) && key.bytes.length === KEY_BYTES);
  if (!isValid || new Set(ring.map((key) => key.id)).size !== ring.length)
    context.addIssue('expected id:base64url-of-32-bytes[,older…] with different ids');
  return ring;
}
