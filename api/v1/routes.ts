// The route table of /v1, for bearer keys.
import { readBalance } from '../account/balance.ts';
import { readEstimate } from '../tasks/estimates.ts';
import { BODY_BYTES_MAX, CREATION_BODY_BYTES_MAX, type Route } from '../context.ts';
import { completeChat } from './chat.ts';
import { createImage, editImage, readCreatedImage, readImageTask } from './images.ts';
import { listModels, readModel } from './models.ts';
import {
  createOpenaiVideo,
  deleteOpenaiVideo,
  listOpenaiVideos,
  readOpenaiVideo,
  sendOpenaiVideo,
} from './openai-videos.ts';
import { createResponse } from './responses.ts';
import { createUpload, deleteUpload, listUploads, readUpload } from '../uploads/uploads.ts';
import { V1_WEBHOOK_ROUTES } from '../webhooks/routes.ts';
import { createVideo, readVideoTask } from './videos.ts';

const read = { proof: 'key', limit: 'read' } as const;
const creation = {
  proof: 'key',
  limit: 'create',
  idempotent: true,
  bodyBytesMax: CREATION_BODY_BYTES_MAX,
  inflatedBytesMax: CREATION_BODY_BYTES_MAX,
  waits: true,
} as const;
const readOpen = { ...read, waits: true } as const;
const chat = { proof: 'key', limit: 'chat', idempotent: 'by-claim', bodyBytesMax: BODY_BYTES_MAX } as const;
const upload = { proof: 'key', limit: 'upload', idempotent: true, upload: true } as const;
const estimate = { ...read, bodyBytesMax: CREATION_BODY_BYTES_MAX } as const;

export const V1_ROUTES = [
  { method: 'POST', path: '/v1/chat/completions', ...chat, handle: completeChat },
  { method: 'POST', path: '/v1/responses', ...chat, handle: createResponse },
  {
    method: 'POST',
    path: '/v1/images/generations',
    ...creation,
    handle: createImage,
    readCreated: readCreatedImage,
  },
  {
    method: 'POST',
    path: '/v1/images/edits',
    ...creation,
    form: true,
    handle: editImage,
    readCreated: readCreatedImage,
  },
  { method: 'GET', path: '/v1/images/tasks/:id', ...readOpen, handle: readImageTask },
  {
    method: 'POST',
    path: '/v1/videos/generations',
    ...creation,
    handle: createVideo,
    readCreated: readVideoTask,
  },
  { method: 'GET', path: '/v1/videos/tasks/:id', ...readOpen, handle: readVideoTask },
  { method: 'GET', path: '/v1/videos/generations/:id', ...readOpen, handle: readVideoTask },
  {
    method: 'POST',
    path: '/v1/videos',
    ...creation,
    form: true,
    handle: createOpenaiVideo,
    readCreated: readOpenaiVideo,
  },
  { method: 'GET', path: '/v1/videos', ...read, heavy: true, handle: listOpenaiVideos },
  { method: 'GET', path: '/v1/videos/:id', ...readOpen, handle: readOpenaiVideo },
  { method: 'DELETE', path: '/v1/videos/:id', ...read, handle: deleteOpenaiVideo },
  { method: 'GET', path: '/v1/videos/:id/content', ...read, handle: sendOpenaiVideo },
  { method: 'POST', path: '/v1/uploads/videos', ...upload, handle: createUpload },
  { method: 'GET', path: '/v1/uploads/videos', ...read, heavy: true, handle: listUploads },
  { method: 'GET', path: '/v1/uploads/videos/:id', ...read, handle: readUpload },
  { method: 'DELETE', path: '/v1/uploads/videos/:id', ...read, handle: deleteUpload },
  { method: 'POST', path: '/v1/estimates', ...estimate, handle: readEstimate },
  { method: 'GET', path: '/v1/models', ...read, handle: listModels },
  { method: 'GET', path: '/v1/models/:id', ...read, handle: readModel },
  { method: 'GET', path: '/v1/balance', ...read, heavy: true, handle: readBalance },
  ...V1_WEBHOOK_ROUTES,
] as const satisfies readonly Route[];
