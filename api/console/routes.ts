// The route table of /api, for sessions; one route is for an API key.
import { readBalance } from '../account/balance.ts';
import { readEstimate } from '../tasks/estimates.ts';
import { BODY_BYTES_MAX, CREATION_BODY_BYTES_MAX, type Route } from '../context.ts';
import { readTokenUsage } from '../account/token-usage.ts';
import { IDENTITY_ROUTES } from './identity-routes.ts';
import { changeOwnKey, createKey, listKeys, revokeOwnKey } from './keys.ts';
import { createUpload, deleteUpload, listUploads, readUpload } from '../uploads/uploads.ts';
import { CONSOLE_WEBHOOK_ROUTES } from '../webhooks/routes.ts';
import { readAbout } from './about.ts';
import { listAllModels } from './models.ts';
import { streamEvents } from './events.ts';
import { redeemCode } from './redeem.ts';
import { listUsage } from './usage.ts';
import { readOwnUsage } from './usage-summary.ts';
import { cancelTask, createConsoleTask, listTasks, readTask, readTimeline, retryOwnTask } from './tasks.ts';

const session = { proof: 'session', limit: 'read' } as const;
const retry = { proof: 'session', limit: 'create', idempotent: true } as const;
const creation = {
  ...retry,
  bodyBytesMax: CREATION_BODY_BYTES_MAX,
  inflatedBytesMax: CREATION_BODY_BYTES_MAX,
  waits: true,
  readCreated: readTask,
} as const;
const upload = { proof: 'session', limit: 'upload', idempotent: true, upload: true } as const;
const estimate = { ...session, bodyBytesMax: CREATION_BODY_BYTES_MAX } as const;

export const CONSOLE_ROUTES = [
  ...IDENTITY_ROUTES,
  { method: 'GET', path: '/api/balance', ...session, heavy: true, handle: readBalance },
  { method: 'POST', path: '/api/estimates', ...estimate, handle: readEstimate },
  { method: 'POST', path: '/api/tasks', ...creation, handle: createConsoleTask },
  { method: 'GET', path: '/api/tasks', ...session, heavy: true, handle: listTasks },
  { method: 'GET', path: '/api/tasks/:id', ...session, waits: true, handle: readTask },
  { method: 'DELETE', path: '/api/tasks/:id', ...session, handle: cancelTask },
  { method: 'GET', path: '/api/tasks/:id/timeline', ...session, handle: readTimeline },
  { method: 'POST', path: '/api/tasks/:id/retry', ...retry, handle: retryOwnTask },
  { method: 'GET', path: '/api/models', ...session, handle: listAllModels },
  { method: 'GET', path: '/api/console', proof: 'none', limit: 'read', handle: readAbout },
  { method: 'POST', path: '/api/uploads/videos', ...upload, handle: createUpload },
  { method: 'GET', path: '/api/uploads/videos', ...session, heavy: true, handle: listUploads },
  { method: 'GET', path: '/api/uploads/videos/:id', ...session, handle: readUpload },
  { method: 'DELETE', path: '/api/uploads/videos/:id', ...session, handle: deleteUpload },
  { method: 'GET', path: '/api/events', ...session, endless: true, handle: streamEvents },
  { method: 'GET', path: '/api/keys', ...session, heavy: true, handle: listKeys },
  {
    method: 'POST',
    path: '/api/keys',
    ...session,
    stepUp: true,
    bodyBytesMax: BODY_BYTES_MAX,
    handle: createKey,
  },
  { method: 'PATCH', path: '/api/keys/:id', ...session, bodyBytesMax: BODY_BYTES_MAX, handle: changeOwnKey },
  { method: 'DELETE', path: '/api/keys/:id', ...session, handle: revokeOwnKey },
  { method: 'GET', path: '/api/usage', ...session, heavy: true, handle: listUsage },
  { method: 'GET', path: '/api/usage/summary', ...session, heavy: true, handle: readOwnUsage },
  { method: 'GET', path: '/api/usage/token', proof: 'key', limit: 'read', handle: readTokenUsage },
  {
    method: 'POST',
    path: '/api/redeem',
    ...session,
    bodyBytesMax: BODY_BYTES_MAX,
    limit: 'auth',
    guess: { limit: 'redeem', wrongWhen: 'redeem_code_not_found' },
    idempotent: true,
    handle: redeemCode,
  },
  ...CONSOLE_WEBHOOK_ROUTES,
] as const satisfies readonly Route[];
