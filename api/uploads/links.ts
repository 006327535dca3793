// Signs links to uploads, serves the files under them, and recognises the links in requests.
import type { RequestHandler } from 'express';
import { findServedUpload } from '../../db/uploads.ts';
import type { Upload } from '../../db/entities/uploads.ts';
import { GatewayError } from '../../domain/errors.ts';
import { uploadKey } from '../../domain/files/uploads.ts';
import { signUrl } from '../../storage/signed-urls.ts';
import { isSigned, sendFile } from '../http/send-file.ts';
import { forkEm } from '../../db/database.ts';
import type { Services } from '../services.ts';

/** Route of uploads. An upload's path is its storage key: `/uploads/file_….mp4`. */
export const UPLOAD_FILE_ROUTE = '/uploads/:name';

const UPLOAD_PATH = /^\/uploads\/(file_[0-9A-Z]{26})\.[a-z0-9]+$/;

/** Creates a link that serves the upload until `expiresAt`, unless the upload is deleted before. */
export function signUploadLink(
  services: Services,
  upload: Pick<Upload, 'id' | 'contentType'>,
  expiresAt: Date,
): string {
  const keys = services.secrets.signingKeys();
  return signUrl({ publicUrl: services.publicUrl(), path: `/${uploadKey(upload)}`, expiresAt, keys });
}

/**
 * Reads the upload that a URL of ours names, and whether its signature is valid and unexpired; null for
 * other URLs.
 */
export function readUploadLink(services: Services, text: string): { id: string; isSigned: boolean } | null {
  const own = URL.parse(services.publicUrl());
  const url = URL.parse(text);
  const base = own?.pathname.replace(/\/+$/, '') ?? '';
  if (!own || !url || url.origin !== own.origin || !url.pathname.startsWith(`${base}/uploads/`)) return null;
  const inside = new URL(url.href);
  inside.pathname = url.pathname.slice(base.length);
  const [, id = ''] = UPLOAD_PATH.exec(inside.pathname) ?? [];
  return {
    id,
    isSigned: id !== '' && url.username === '' && url.password === '' && isSigned(services, inside),
  };
}

/** Serves an upload. The signature decides who may read it, the row whether it still exists. */
export function sendUpload(services: Services): RequestHandler {
  return async (req, res) => {
    const url = new URL(req.originalUrl, 'http://localhost');
    const [, id] = (isSigned(services, url) && UPLOAD_PATH.exec(url.pathname)) || [];
    const upload = id === undefined ? null : await findServedUpload(forkEm(services.database), id);
    const key = upload && uploadKey(upload);
    if (!upload || !key || url.pathname !== `/${key}`) throw new GatewayError('file_not_found');
    const { contentType, filename } = upload;
    await sendFile(services.storage, req, res, { key, contentType, filename });
  };
}
