// The route table of administration. Permissions and step-up are declared here and checked before handlers.
import { readHealth } from './health.ts';
import { listAudit } from './audit-entries.ts';
import { createCode, disableCode, listCodes, readCode } from './redeem-codes.ts';
import { listTasksOfAllUsers, readTaskOfAnyUser } from './tasks.ts';
import { listKeysOfUser, listLedgerOfUser, listSessionsOfUser } from './user-accounts.ts';
import { createUser, grantToUser, listAllUsers, readUser, updateUser } from './users.ts';
import { readFailures } from './usage-failures.ts';
import { readUsageOfAllUsers } from './usage-summary.ts';
import { listDeliveriesOfAnyWebhook, listWebhooksOfAllUsers } from './webhooks.ts';
import { BODY_BYTES_MAX, type Route } from '../context.ts';

const session = { proof: 'session', limit: 'read' } as const;
const withBody = { ...session, bodyBytesMax: BODY_BYTES_MAX } as const;
const changesCodes = { permission: 'redemption.sensitive_write', stepUp: true } as const;
const changesUsers = { permission: 'users.write', stepUp: true } as const;
const readsUsers = { ...session, permission: 'users.read' } as const;
const readsCodes = { ...session, permission: 'redemption.read' } as const;

const CODES = '/api/admin/redeem-codes';
const USERS = '/api/admin/users';

export const ADMIN_ROUTES = [
  { method: 'POST', path: CODES, ...withBody, ...changesCodes, idempotent: true, handle: createCode },
  { method: 'GET', path: CODES, ...readsCodes, heavy: true, handle: listCodes },
  { method: 'GET', path: `${CODES}/:id`, ...readsCodes, handle: readCode },
  { method: 'PATCH', path: `${CODES}/:id`, ...session, ...changesCodes, handle: disableCode },
  { method: 'POST', path: USERS, ...withBody, ...changesUsers, handle: createUser },
  { method: 'GET', path: USERS, ...readsUsers, heavy: true, handle: listAllUsers },
  { method: 'GET', path: `${USERS}/:id`, ...readsUsers, handle: readUser },
  { method: 'GET', path: `${USERS}/:id/keys`, ...readsUsers, heavy: true, handle: listKeysOfUser },
  { method: 'GET', path: `${USERS}/:id/sessions`, ...readsUsers, heavy: true, handle: listSessionsOfUser },
  {
    method: 'GET',
    path: `${USERS}/:id/ledger-entries`,
    ...readsUsers,
    heavy: true,
    handle: listLedgerOfUser,
  },
  { method: 'PATCH', path: `${USERS}/:id`, ...withBody, ...changesUsers, handle: updateUser },
  {
    method: 'POST',
    path: `${USERS}/:id/grants`,
    ...withBody,
    permission: 'credits.grant',
    stepUp: true,
    idempotent: true,
    handle: grantToUser,
  },
  {
    method: 'GET',
    path: '/api/admin/tasks',
    ...session,
    permission: 'tasks.read',
    heavy: true,
    handle: listTasksOfAllUsers,
  },
  {
    method: 'GET',
    path: '/api/admin/tasks/:id',
    ...session,
    permission: 'tasks.read',
    handle: readTaskOfAnyUser,
  },
  {
    method: 'GET',
    path: '/api/admin/webhooks',
    ...session,
    permission: 'tasks.read',
    heavy: true,
    handle: listWebhooksOfAllUsers,
  },
  {
    method: 'GET',
    path: '/api/admin/webhooks/:id/deliveries',
    ...session,
    permission: 'tasks.read',
    heavy: true,
    handle: listDeliveriesOfAnyWebhook,
  },
  {
    method: 'GET',
    path: '/api/admin/health',
    ...session,
    permission: 'system.read',
    handle: readHealth,
  },
  {
    method: 'GET',
    path: '/api/admin/audit-entries',
    ...session,
    permission: 'audit.read',
    heavy: true,
    handle: listAudit,
  },
  {
    method: 'GET',
    path: '/api/admin/usage/summary',
    ...session,
    permission: 'usage.read',
    heavy: true,
    handle: readUsageOfAllUsers,
  },
  {
    method: 'GET',
    path: '/api/admin/usage/failures',
    ...session,
    permission: 'usage.read',
    heavy: true,
    handle: readFailures,
  },
] as const satisfies readonly Route[];
