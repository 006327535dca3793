// Uploaded files, and which tasks were ordered with them.
import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { VideoType } from '../../domain/files/media-types.ts';

export const UploadEntity = defineEntity({
  name: 'Upload',
  tableName: 'upload',
  properties: {
    id: p.text().primary(),
    userId: p.text(),
    /** removed: nobody sees it any more, and its file is about to go. */
    state: p.text().$type<'ready' | 'removed'>().default('ready'),
    /** As the caller called it, cleaned; only ever shown. */
    filename: p.text(),
    /** By content. */
    contentType: p.text().$type<VideoType>(),
    bytes: p.bigint('number'),
    /** In hex. */
    sha256: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
    expiresAt: p.datetime(),
  },
});
export type Upload = InferEntity<typeof UploadEntity>;

/** Stays when the upload goes, so that a retry knows what it lacks. */
export const UploadUseEntity = defineEntity({
  name: 'UploadUse',
  tableName: 'upload_use',
  properties: {
    taskId: p.text().primary(),
    uploadId: p.text().primary(),
  },
});
