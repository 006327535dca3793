// Keys that name an effect, so that a request which is sent twice has it once.

/** A fresh key: 128 random bits. Works without a secure context, which `crypto.randomUUID` needs. */
export function makeIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
