// URLs to our own files that anybody may use until they expire.
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface UrlToSign {
  /** The address of this service as callers know it, possibly with a path. */
  publicUrl: string;
  /** From the root of this service, already percent-encoded: `/files/task_1/0.png`. */
  path: string;
  expiresAt: Date;
  /** Newest first; the newest signs. */
  keys: readonly string[];
}

export interface UrlToVerify {
  /** As it stands in the request, without the query. */
  path: string;
  /** The query parameters as parsed; anything but one text each is no signature. */
  expires: unknown;
  signature: unknown;
  keys: readonly string[];
  now: Date;
}

/** Keeps these signatures apart from everything else that is made with the same keys. */
const PURPOSE = 'signed-url-1';

/** The full URL with `expires` (Unix seconds) and `signature`. Throws a RangeError when the key ring is empty. */
export function signUrl({ publicUrl, path, expiresAt, keys }: UrlToSign): string {
  const [newest] = keys;
  if (newest === undefined) throw new RangeError('no key to sign with');
  const expires = String(Math.floor(expiresAt.getTime() / 1000));
  const signature = sign(newest, path, expires).toString('base64url');
  return `${publicUrl.replace(/\/+$/, '')}${path}?expires=${expires}&signature=${signature}`;
}

/** `expired` is said only of a signature that is true, so that it tells a stranger nothing. */
export function verifySignedUrl({
  path,
  expires,
  signature,
  keys,
  now,
}: UrlToVerify): 'valid' | 'expired' | 'forged' {
  if (typeof expires !== 'string' || !/^\d{1,12}$/.test(expires)) return 'forged';
  if (typeof signature !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(signature)) return 'forged';
  const given = Buffer.from(signature, 'base64url');
  // All keys are tried, whichever fits, so that the time taken tells nothing about the ring.
  const fitting = keys.filter((key) => timingSafeEqual(sign(key, path, expires), given));
  if (fitting.length === 0) return 'forged';
  return now.getTime() < Number(expires) * 1000 ? 'valid' : 'expired';
}

function sign(key: string, path: string, expires: string): Buffer {
  return createHmac('sha256', key).update(`${PURPOSE}\n${path}\n${expires}`).digest();
}
