// Sends stored files under signed links, whole or one range, as attachments that no browser interprets.
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { MEDIA_TYPES } from '../../domain/files/media-types.ts';
import { verifySignedUrl } from '../../storage/signed-urls.ts';
import type { ByteRange, Storage } from '../../storage/storage.ts';
import type { Services } from '../services.ts';

/** The content types that files are sent with. */
export const FILE_TYPES: readonly string[] = [...Object.keys(MEDIA_TYPES), 'application/octet-stream'];

export interface FileToSend {
  /** The storage key. */
  key: string;
  contentType: string;
  filename: string;
  /** Absent: no cache may keep it. */
  cacheControl?: string;
  /** A strong validator, in its quotes; absent: there is none. */
  etag?: string;
}

/** Whether path and query carry a signature of ours that has not expired. */
export function isSigned(services: Services, { pathname, searchParams }: URL): boolean {
  const [expires, signature] = [searchParams.get('expires'), searchParams.get('signature')];
  const keys = services.secrets.signingKeys();
  return verifySignedUrl({ path: pathname, expires, signature, keys, now: new Date() }) === 'valid';
}

/**
 * Answers with a file, or 304 to who has it. Throws 404 for an unknown file, 416 for a range outside it,
 * StorageUnavailable when the storage is away. Serves one range; ignores other Range headers.
 */
export async function sendFile(
  storage: Storage,
  req: Request,
  res: Response,
  file: FileToSend,
): Promise<void> {
  const { 'if-range': ifRange, 'if-none-match': ifNoneMatch = '', range: header } = req.headers;
  if (isNamed(file, ifNoneMatch)) return sendUnchanged(storage, res, file);
  // Without a validator no `If-Range` is true, and the range goes (RFC 9110 §13.1.5).
  const range = ifRange === undefined || ifRange === file.etag ? header : undefined;
  const opened = await open(storage, file.key, range);
  if (!opened) throw new GatewayError('file_not_found');
  const { stream, bytes, range: part } = opened;
  res.attachment(file.filename);
  res.setHeader('content-type', file.contentType);
  res.setHeader('content-security-policy', "sandbox; default-src 'none'");
  setCacheHeaders(res, file);
  res.setHeader('accept-ranges', 'bytes');
  res.setHeader('content-length', part ? part.last - part.first + 1 : bytes);
  if (part) res.status(206).setHeader('content-range', `bytes ${part.first}-${part.last}/${bytes}`);
  try {
    if (req.method === 'HEAD') res.end();
    else await pipeline(stream, res);
  } catch (error) {
    if (!res.destroyed) throw error; // otherwise the caller disconnected, and there is nothing to answer
  } finally {
    stream.destroy(); // a pipeline to a caller who had left before it began leaves the file open
  }
}

/** Whether one of the tags of `If-None-Match` is the file's. Weak ones count too (RFC 9110 §13.1.2). */
function isNamed({ etag }: FileToSend, tags: string): boolean {
  return etag !== undefined && tags.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}

async function sendUnchanged(storage: Storage, res: Response, file: FileToSend): Promise<void> {
  if ((await storage.size(file.key)) === null) throw new GatewayError('file_not_found');
  setCacheHeaders(res, file);
  res.status(304).end();
}

function setCacheHeaders(res: Response, { cacheControl, etag }: FileToSend): void {
  res.setHeader('cache-control', cacheControl ?? 'private, no-store');
  if (etag !== undefined) res.setHeader('etag', etag);
}

async function open(storage: Storage, key: string, header: string | undefined) {
  const bytes = header === undefined ? null : await storage.size(key);
  const range = bytes === null ? null : readRange(header ?? '', bytes);
  if (bytes === null || !range) {
    const file = await storage.read(key);
    return file && { ...file, range: null };
  }
  const stream = await storage.readPart(key, range);
  return stream && { stream, bytes, range };
}

/**
 * Reads `bytes=0-99`, `bytes=100-` or `bytes=-100`. Null for several ranges and for what is none: then the
 * whole file is sent. Throws 416 for one outside the file.
 */
function readRange(header: string, bytes: number): ByteRange | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header) ?? [];
  if (from === '' && to === '') return null;
  const first = from === '' ? Math.max(bytes - Number(to), 0) : Number(from);
  const last = from === '' || to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (from !== '' && to !== '' && Number(to) < first) return null;
  if (first <= last) return { first, last };
  throw new GatewayError('range_not_satisfiable', { headers: { 'content-range': `bytes */${bytes}` } });
}
