// Descriptions of the upload routes.
import { z } from 'zod';
import { fileOfForm } from '../../http/request-fields.ts';
import { UPLOAD_LIST_QUERY } from '../../uploads/uploads.ts';
import type { RouteDescription } from '../route-description.ts';
import { dataOf, pageOf } from '../../shapes/basics.ts';
import { UPLOAD } from '../../shapes/uploads.ts';

const tag = 'Uploads';
const FORM = z.object({
  file: fileOfForm('The video: MP4, MOV or WebM, told by its content and not by its name.'),
});

const UNDER_V1 = {
  'POST /v1/uploads/videos': {
    id: 'uploadVideo',
    tag,
    summary: 'Upload a video',
    description:
      'At most 200 MiB, unless the operator chose otherwise, and kept for a day. For the `video_urls` of models that take input videos.',
    body: { form: FORM },
    responses: { 201: { description: 'It is stored.', shape: dataOf(UPLOAD) } },
    refusals: ['storage_quota_exceeded', 'storage_unavailable'],
  },
  'GET /v1/uploads/videos': {
    id: 'listUploads',
    tag,
    summary: 'List your uploads',
    query: UPLOAD_LIST_QUERY,
    responses: { 200: { description: 'A page of those whose time is not over.', shape: pageOf(UPLOAD) } },
  },
  'GET /v1/uploads/videos/:id': {
    id: 'readUpload',
    tag,
    summary: 'Read what is known of an upload',
    responses: { 200: { description: 'The upload, with its link.', shape: dataOf(UPLOAD) } },
    refusals: ['file_not_found'],
  },
  'DELETE /v1/uploads/videos/:id': {
    id: 'deleteUpload',
    tag,
    summary: 'Delete an upload',
    description: 'At once: its link is dead, its room is free, and a task that still needs it fails.',
    responses: { 204: { description: 'It is gone.' } },
    refusals: ['file_not_found'],
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;

/** The same four routes with the cookie. */
export const UPLOAD_DESCRIPTIONS = {
  ...UNDER_V1,
  'POST /api/uploads/videos': { ...UNDER_V1['POST /v1/uploads/videos'], id: 'uploadVideoInConsole' },
  'GET /api/uploads/videos': { ...UNDER_V1['GET /v1/uploads/videos'], id: 'listUploadsInConsole' },
  'GET /api/uploads/videos/:id': { ...UNDER_V1['GET /v1/uploads/videos/:id'], id: 'readUploadInConsole' },
  'DELETE /api/uploads/videos/:id': {
    ...UNDER_V1['DELETE /v1/uploads/videos/:id'],
    id: 'deleteUploadInConsole',
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;
