// Serves files that do not change while the process lives: kept in memory, compressed once, cacheable.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';

export interface StaticFile {
  contentType: string;
  bytes: Buffer;
  gzipped: Buffer;
  /** Hash of the bytes, as an ETag header carries it. */
  etag: string;
}

const MAX_AGE_SECONDS = 3_600;

export function createStaticFile(contentType: string, bytes: Buffer): StaticFile {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  return { contentType, bytes, gzipped: gzipSync(bytes), etag: `W/"${hash}"` };
}

/** Answers 200 with the whole file, or 304. Ranges and other conditions than If-None-Match are ignored. */
export function sendStaticFile(req: Request, res: Response, file: StaticFile): void {
  res.setHeader('cache-control', `public, max-age=${MAX_AGE_SECONDS}`);
  res.setHeader('etag', file.etag);
  res.setHeader('vary', 'accept-encoding');
  if (req.fresh) {
    res.status(304).end();
    return;
  }
  const acceptsGzip = req.acceptsEncodings('gzip') === 'gzip';
  const body = acceptsGzip ? file.gzipped : file.bytes;
  if (acceptsGzip) res.setHeader('content-encoding', 'gzip');
  res.setHeader('content-type', file.contentType);
  res.setHeader('content-length', body.byteLength);
  res.end(req.method === 'HEAD' ? undefined : body);
}
