// Signs URLs to our own files, and verifies them: a signed URL needs no login and works until it expires.
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
  /** The path of the request, without the query. */
  path: string;
  /** The query parameters as parsed; values other than one text each are refused. */
  expires: unknown;
  signature: unknown;
  keys: readonly string[];
  now: Date;
}

/** Part of what is signed, so that no other signature made with the same keys is accepted here. */
const PURPOSE = 'signed-url-1';

/** Makes the full URL with `expires` (Unix seconds) and `signature`. Throws a RangeError without a key. */
export function signUrl({ publicUrl, path, expiresAt, keys }: UrlToSign): string {
  const [newest] = keys;
  if (newest === undefined) throw new RangeError('no key to sign with');
  const expires = String(Math.floor(expiresAt.getTime() / 1000));
  const signature = sign(newest, path, expires).toString('base64url');
  return `${publicUrl.replace(/\/+$/, '')}${path}?expires=${expires}&signature=${signature}`;
}

/** Answers `expired` only for a genuine signature, so that the answer reveals nothing about forged ones. */
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
  // All keys are tried, so that the time taken reveals nothing about the ring.
  const fitting = keys.filter((key) => timingSafeEqual(sign(key, path, expires), given));
  if (fitting.length === 0) return 'forged';
  return now.getTime() < Number(expires) * 1000 ? 'valid' : 'expired';
}

function sign(key: string, path: string, expires: string): Buffer {
  return createHmac('sha256', key).update(`${PURPOSE}\n${path}\n${expires}`).digest();
}
