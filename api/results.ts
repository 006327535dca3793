// Results under signed URLs: whoever has the link may download, until it expires.
import { pipeline } from 'node:stream/promises';
import type { RequestHandler } from 'express';
import { GatewayError } from '../domain/errors.ts';
import { signUrl, verifySignedUrl } from '../storage/signed-urls.ts';
import { StorageUnavailable, type Storage } from '../storage/storage.ts';
import type { Gateway } from './gateway.ts';

/** A result's path is its storage key: `/results/task_…/1/0.png`. */
export const RESULT_ROUTE = '/results/:taskId/:attempt/:name';

/** What our own links look like; a signature over anything else leads nowhere. */
const RESULT_PATH = /^\/results\/task_[0-9A-Z]{26}\/\d+\/\d+\.[a-z0-9]+$/;
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
};
export const RESULT_TYPES: readonly string[] = [...Object.values(CONTENT_TYPES), 'application/octet-stream'];
/** Links expire on whole steps, so that reading a task twice gives the same link. */
const EXPIRY_STEP_SECONDS = 60;

/** A link to a result, good for the configured time from now. */
export function linkTo(gateway: Gateway, key: string, now: Date = new Date()): string {
  const lastSecond = now.getTime() / 1000 + gateway.resultUrlSeconds;
  const expiresAt = new Date(Math.ceil(lastSecond / EXPIRY_STEP_SECONDS) * EXPIRY_STEP_SECONDS * 1000);
  const keys = gateway.secrets.signingKeys();
  return signUrl({ publicUrl: gateway.publicUrl(), path: `/${key}`, expiresAt, keys });
}

/** Always as an attachment, never to be interpreted: the bytes came from outside. */
export function sendResult(gateway: Gateway): RequestHandler {
  return async (req, res) => {
    const { pathname, searchParams } = new URL(req.originalUrl, 'http://localhost');
    const [expires, signature] = [searchParams.get('expires'), searchParams.get('signature')];
    const keys = gateway.secrets.signingKeys();
    const verdict = verifySignedUrl({ path: pathname, expires, signature, keys, now: new Date() });
    const isResult = verdict === 'valid' && RESULT_PATH.test(pathname);
    const file = isResult ? await openFile(gateway.storage, pathname.slice(1)) : null;
    if (!file) throw new GatewayError('file_not_found');
    const name = pathname.slice(pathname.lastIndexOf('/') + 1);
    res.setHeader(
      'content-type',
      CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    );
    res.setHeader('content-length', file.bytes);
    res.setHeader('content-disposition', `attachment; filename="${name}"`);
    res.setHeader('content-security-policy', "sandbox; default-src 'none'");
    res.setHeader('cache-control', 'private, no-store');
    if (req.method === 'HEAD') {
      file.stream.destroy();
      res.end();
      return;
    }
    await pipeline(file.stream, res).catch((error: unknown) => {
      if (!res.destroyed) throw error; // the reader left: nothing to answer
    });
  };
}

async function openFile(storage: Storage, key: string) {
  try {
    return await storage.read(key);
  } catch (error) {
    if (error instanceof StorageUnavailable) throw new GatewayError('storage_unavailable', { cause: error });
    throw error;
  }
}
