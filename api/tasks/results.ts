// Serves results under signed URLs: the link alone permits the download, until it expires.
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { MEDIA_TYPES } from '../../domain/files/media-types.ts';
import { signUrl } from '../../storage/signed-urls.ts';
import { isSigned, sendFile } from '../http/send-file.ts';
import type { Services } from '../services.ts';

/** Route of results. A result's path is its storage key: `/results/task_…/1/0.png`. */
export const RESULT_ROUTE = '/results/:taskId/:attempt/:name';

/** Pattern of the paths that are served; a valid signature over any other path is answered 404. */
const RESULT_PATH = /^\/results\/task_[0-9A-Z]{26}\/\d+\/\d+\.[a-z0-9]+$/;
/** Step of expiry times, so that reading a task twice gives the same link. */
const EXPIRY_STEP_SECONDS = 60;

/** Creates a link to a result, valid for the configured time from `now`. */
export function signResultLink(services: Services, key: string, now: Date = new Date()): string {
  const lastSecond = now.getTime() / 1000 + services.resultUrlSeconds;
  const expiresAt = new Date(Math.ceil(lastSecond / EXPIRY_STEP_SECONDS) * EXPIRY_STEP_SECONDS * 1000);
  const keys = services.secrets.signingKeys();
  return signUrl({ publicUrl: services.publicUrl(), path: `/${key}`, expiresAt, keys });
}

export function sendResult(services: Services): RequestHandler {
  return async (req, res) => {
    const url = new URL(req.originalUrl, 'http://localhost');
    if (!isSigned(services, url) || !RESULT_PATH.test(url.pathname)) throw new GatewayError('file_not_found');
    const filename = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
    const contentType = typeOf(filename.slice(filename.lastIndexOf('.') + 1));
    await sendFile(services.storage, req, res, { key: url.pathname.slice(1), contentType, filename });
  };
}

function typeOf(extension: string): string {
  const [type] = Object.entries(MEDIA_TYPES).find(([, known]) => known === extension) ?? [];
  return type ?? 'application/octet-stream';
}
