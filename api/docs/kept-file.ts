// Files that are the same for everybody and as long as the process lives: kept in memory, packed once, cached by readers.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';

export interface KeptFile {
  type: string;
  bytes: Buffer;
  packed: Buffer;
  /** Changes with the bytes. */
  tag: string;
}

const MAX_AGE_SECONDS = 3_600;

export function keepFile(type: string, bytes: Buffer): KeptFile {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { type, bytes, packed: gzipSync(bytes), tag: `W/"${hash}"` };
}

/** Whole or not at all: no ranges, no conditions but "have you got another one". */
export function sendKept(req: Request, res: Response, { type, bytes, packed, tag }: KeptFile): void {
  res.setHeader('cache-control', `public, max-age=${MAX_AGE_SECONDS}`);
  res.setHeader('etag', tag);
  res.setHeader('vary', 'accept-encoding');
  if (req.fresh) {
    res.status(304).end();
    return;
  }
  const isPacked = req.acceptsEncodings('gzip') === 'gzip';
  const sent = isPacked ? packed : bytes;
  if (isPacked) res.setHeader('content-encoding', 'gzip');
  res.setHeader('content-type', type);
  res.setHeader('content-length', sent.byteLength);
  res.end(req.method === 'HEAD' ? undefined : sent);
}
