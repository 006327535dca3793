// Creates, lists, reads and deletes a caller's own uploads, which are kept for a day, on /v1 and /api.
import { z } from 'zod';
import {
  findOwnUpload,
  deleteRemovedUpload,
  insertUpload,
  listOwnUploads,
  removeUpload,
} from '../../db/uploads.ts';
import type { Upload } from '../../db/entities/uploads.ts';
import { GatewayError } from '../../domain/errors.ts';
import { uploadKey } from '../../domain/files/uploads.ts';
import type { RequestContext, KeyCaller, Reply, SessionCaller } from '../context.ts';
import { answerOnce } from '../idempotent-effects.ts';
import { answerPage, pageQuery } from '../http/pages.ts';
import { readId, readQuery } from '../http/request-fields.ts';
import { signUploadLink } from './links.ts';
import type { UploadView } from '../shapes/uploads.ts';
import type { Services } from '../services.ts';

export const UPLOAD_LIST_QUERY = z.object(pageQuery('file'));

/**
 * Keeps the received file if the user's storage quota allows it; otherwise throws `storage_quota_exceeded`.
 */
export async function createUpload(ctx: RequestContext<KeyCaller | SessionCaller>): Promise<Reply> {
  const { services, caller, file } = ctx;
  if (!file) throw new Error('an upload without its file');
  return answerOnce(ctx, async (em) => {
    const kept = await insertUpload(em, { ...file, userId: caller.user.id }, services.uploads.quotaBytes);
    if (!kept) throw new GatewayError('storage_quota_exceeded');
    return { status: 201, body: { data: presentUpload(services, kept) } };
  });
}

export async function listUploads({
  services,
  em,
  caller,
  query,
}: RequestContext<KeyCaller | SessionCaller>): Promise<Reply> {
  const { limit, cursor } = readQuery(UPLOAD_LIST_QUERY, query);
  const found = await listOwnUploads(em, caller.user.id, { limit: limit + 1, beforeId: cursor ?? null });
  return answerPage(found, limit, (upload) => presentUpload(services, upload));
}

export async function readUpload({
  services,
  em,
  caller,
  params,
}: RequestContext<KeyCaller | SessionCaller>): Promise<Reply> {
  const upload = await findOwnUpload(em, caller.user.id, readId('file', params));
  if (!upload) throw new GatewayError('file_not_found');
  return { status: 200, body: { data: presentUpload(services, upload) } };
}

/**
 * Deletes an upload at once, even if a task still needs it. While the storage is away, the sweeper deletes
 * the bytes later.
 */
export async function deleteUpload({
  services,
  em,
  caller,
  params,
  requestId,
}: RequestContext<KeyCaller | SessionCaller>): Promise<Reply> {
  const removed = await removeUpload(em, caller.user.id, readId('file', params));
  if (!removed) throw new GatewayError('file_not_found');
  try {
    await services.storage.delete(uploadKey(removed));
    await deleteRemovedUpload(em, removed.id);
  } catch (err) {
    services.log.warn({ err, requestId }, 'a deleted file could not be removed yet');
  }
  return { status: 204 };
}

function presentUpload(services: Services, upload: Upload): UploadView {
  return {
    id: upload.id,
    object: 'file',
    filename: upload.filename,
    contentType: upload.contentType,
    bytes: upload.bytes,
    sha256: upload.sha256,
    url: signUploadLink(services, upload, upload.expiresAt),
    createdAt: upload.createdAt.toISOString(),
    expiresAt: upload.expiresAt.toISOString(),
  };
}
