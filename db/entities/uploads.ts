// Uploaded files, and which tasks were ordered with them.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { VideoType } from '../../domain/files/media-types.ts';

export const UploadEntity = defineEntity({
  name: 'Upload',
  tableName: 'upload',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    /** removed: hidden from every reader, and its file is about to be deleted. */
    state: p.text().$type<'ready' | 'removed'>().default('ready'),
    /** The caller's name for the file, cleaned; shown, never used as a path. */
    filename: p.text(),
    /** Recognised from the content, not from the name. */
    contentType: p.text().$type<VideoType>(),
    bytes: p.bigint('number'),
    /** Hexadecimal. */
    sha256: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
  },
});
export type Upload = InferEntity<typeof UploadEntity>;

/**
 * Which task was ordered with which upload. Outlives the upload, so that a retry can tell what is missing.
 */
export const UploadUseEntity = defineEntity({
  name: 'UploadUse',
  tableName: 'upload_use',
  properties: {
    taskId: p.text().primary(),
    uploadId: p.text().primary(),
  },
});
