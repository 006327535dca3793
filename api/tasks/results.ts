// Serves results under signed URLs: the link alone permits the download, until it expires.
import { hash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { GatewayError } from '../../domain/errors.ts';
import { MEDIA_TYPES } from '../../domain/files/media-types.ts';
import { signResultUrl } from '../../storage/result-links.ts';
import { isSigned, sendFile } from '../http/send-file.ts';
import type { Services } from '../services.ts';

/** Route of results. A result's path is its storage key: `/results/task_…/1/0.png`. */
export const RESULT_ROUTE = '/results/:taskId/:attempt/:name';

/** Pattern of the paths that are served; a valid signature over any other path is answered 404. */
const RESULT_PATH = /^\/results\/task_[0-9A-Z]{26}\/\d+\/\d+(\.preview)?\.[a-z0-9]+$/;

/** Of a hash of the key: no other file is written under it. */
const ETAG_CHARACTERS = 32;

/** Creates a link to a result, valid for the configured time from `now`. */
export function signResultLink(services: Services, key: string, now: Date = new Date()): string {
  const { resultUrlSeconds, secrets } = services;
  const settings = { publicUrl: services.publicUrl(), keys: secrets.signingKeys(), resultUrlSeconds };
  return signResultUrl(settings, key, now);
}

export function sendResult(services: Services): RequestHandler {
  return async (req, res) => {
    const url = new URL(req.originalUrl, 'http://localhost');
    if (!isSigned(services, url) || !RESULT_PATH.test(url.pathname)) throw new GatewayError('file_not_found');
    const filename = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
    const contentType = typeOf(filename.slice(filename.lastIndexOf('.') + 1));
    const key = url.pathname.slice(1);
    await sendFile(services.storage, req, res, {
      key,
      contentType,
      filename,
      // The file under a link never changes, and the link ends when its copy does.
      etag: `"${hash('sha256', key).slice(0, ETAG_CHARACTERS)}"`,
      cacheControl: `private, max-age=${secondsLeft(url)}, immutable`,
    });
  };
}

/** Seconds until a signed link ends. */
function secondsLeft({ searchParams }: URL): number {
  return Math.max(0, Number(searchParams.get('expires')) - Math.ceil(Date.now() / 1000));
}

function typeOf(extension: string): string {
  const [type] = Object.entries(MEDIA_TYPES).find(([, known]) => known === extension) ?? [];
  return type ?? 'application/octet-stream';
}
