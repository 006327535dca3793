// Descriptions of the administration's routes.
import { AUDIT_LIST_QUERY } from '../../admin/audit-entries.ts';
import { CODE_LIST_QUERY, NEW_CODE_BODY } from '../../admin/redeem-codes.ts';
import { ALL_TASKS_QUERY } from '../../admin/tasks.ts';
import { LEDGER_LIST_QUERY } from '../../admin/user-accounts.ts';
import { GRANT_BODY, NEW_USER_BODY, USER_CHANGES, USER_LIST_QUERY } from '../../admin/users.ts';
import { FAILURES_QUERY } from '../../admin/usage-failures.ts';
import { ALL_SUMMARY_QUERY } from '../../admin/usage-summary.ts';
import { ALL_WEBHOOKS_QUERY } from '../../admin/webhooks.ts';
import { KEY_LIST_QUERY } from '../../console/keys.ts';
import { SESSION_LIST_QUERY } from '../../console/sessions.ts';
import { DELIVERY_LIST_QUERY } from '../../webhooks/deliveries.ts';
import type { RouteDescription } from '../route-description.ts';
import {
  AUDIT_ENTRY,
  GRANT_RECEIPT,
  NEW_REDEEM_CODE,
  REDEEM_CODE,
  REDEEM_CODE_WITH_REDEMPTIONS,
  USER_RECORD,
} from '../../shapes/administration.ts';
import { KEY, LEDGER_LINE, SESSION } from '../../shapes/account.ts';
import { dataOf, pageOf } from '../../shapes/basics.ts';
import { HEALTH } from '../../shapes/health.ts';
import { ALL_USAGE_SUMMARY, USAGE_FAILURES } from '../../shapes/usage.ts';
import { FOREIGN_TASK, FOREIGN_TASK_WITH_TIMELINE } from '../../shapes/tasks.ts';
import { FOREIGN_WEBHOOK, FOREIGN_WEBHOOK_DELIVERY } from '../../shapes/webhooks.ts';

const tag = 'Administration';
const codes = 'Redeem codes';

export const ADMIN_DESCRIPTIONS = {
  'POST /api/admin/redeem-codes': {
    id: 'createRedeemCode',
    tag: codes,
    summary: 'Make a redeem code',
    description:
      'The answer is the only place where the code itself appears; a replay of it does not show it again.',
    body: {
      schema: NEW_CODE_BODY,
      examples: {
        'Three uses': { label: 'launch', credits: 25, maxUses: 3, expiresAt: '2030-01-31T12:00:00Z' },
      },
    },
    responses: { 201: { description: 'The code.', shape: dataOf(NEW_REDEEM_CODE) } },
  },
  'GET /api/admin/redeem-codes': {
    id: 'listRedeemCodes',
    tag: codes,
    summary: 'List redeem codes',
    query: CODE_LIST_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(REDEEM_CODE) } },
  },
  'GET /api/admin/redeem-codes/:id': {
    id: 'readRedeemCode',
    tag: codes,
    summary: 'Read a redeem code and who used it',
    responses: { 200: { description: 'The code’s entry.', shape: dataOf(REDEEM_CODE_WITH_REDEMPTIONS) } },
    refusals: ['redeem_code_not_found'],
  },
  'PATCH /api/admin/redeem-codes/:id': {
    id: 'disableRedeemCode',
    tag: codes,
    summary: 'Disable a redeem code',
    description: 'Takes no body. From this moment it cannot be redeemed. Disabling it again changes nothing.',
    responses: { 200: { description: 'The code’s entry.', shape: dataOf(REDEEM_CODE) } },
    refusals: ['redeem_code_not_found'],
  },
  'POST /api/admin/users': {
    id: 'createUser',
    tag,
    summary: 'Make a user',
    description: 'Nobody can give permissions that they do not have.',
    body: {
      schema: NEW_USER_BODY,
      examples: { 'A user': { email: 'new@example.com', password: 'a long sentence that nobody guesses' } },
    },
    responses: { 201: { description: 'The user.', shape: dataOf(USER_RECORD) } },
    refusals: ['permission_denied', 'email_taken'],
  },
  'GET /api/admin/users': {
    id: 'listUsers',
    tag,
    summary: 'List users',
    query: USER_LIST_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(USER_RECORD) } },
  },
  'GET /api/admin/users/:id': {
    id: 'readUser',
    tag,
    summary: 'Read a user',
    responses: { 200: { description: 'The user.', shape: dataOf(USER_RECORD) } },
    refusals: ['not_found'],
  },
  'GET /api/admin/users/:id/keys': {
    id: 'listKeysOfUser',
    tag,
    summary: 'List the keys of a user',
    query: KEY_LIST_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(KEY) } },
    refusals: ['not_found'],
  },
  'GET /api/admin/users/:id/sessions': {
    id: 'listSessionsOfUser',
    tag,
    summary: 'List where a user is logged in',
    query: SESSION_LIST_QUERY,
    responses: { 200: { description: 'A page of the sessions.', shape: pageOf(SESSION) } },
    refusals: ['not_found'],
  },
  'GET /api/admin/users/:id/ledger-entries': {
    id: 'listLedgerOfUser',
    tag,
    summary: 'Read every move of a user’s balance',
    query: LEDGER_LIST_QUERY,
    responses: { 200: { description: 'A page of the ledger, newest first.', shape: pageOf(LEDGER_LINE) } },
    refusals: ['not_found'],
  },
  'PATCH /api/admin/users/:id': {
    id: 'changeUser',
    tag,
    summary: 'Change a user',
    description:
      'Only users who have no permission that you do not have. The last enabled user with `users.write` stays one.',
    body: { schema: USER_CHANGES, examples: { Disable: { disabled: true } } },
    responses: { 200: { description: 'The user.', shape: dataOf(USER_RECORD) } },
    refusals: ['permission_denied', 'not_found', 'last_administrator'],
  },
  'POST /api/admin/users/:id/grants': {
    id: 'grantCredits',
    tag,
    summary: 'Give a user credits',
    body: { schema: GRANT_BODY, examples: { 'A hundred': { credits: 100, note: 'Welcome' } } },
    responses: { 201: { description: 'The credits were added.', shape: dataOf(GRANT_RECEIPT) } },
    refusals: ['not_found', 'balance_limit'],
  },
  'GET /api/admin/tasks': {
    id: 'listAllTasks',
    tag,
    summary: 'List everybody’s tasks',
    description: 'Prompt, payload, upstream id, URLs and error texts are masked.',
    query: ALL_TASKS_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(FOREIGN_TASK) } },
  },
  'GET /api/admin/tasks/:id': {
    id: 'readAnyTask',
    tag,
    summary: 'Read a task of any user',
    description: 'Masked as in the list, with its timeline and what it moved on the account.',
    responses: { 200: { description: 'The task.', shape: dataOf(FOREIGN_TASK_WITH_TIMELINE) } },
    refusals: ['task_not_found'],
  },
  'GET /api/admin/webhooks': {
    id: 'listAllWebhooks',
    tag,
    summary: 'List the webhooks of all users',
    description: 'With what is still to be delivered to each. Of an address only the origin is shown.',
    query: ALL_WEBHOOKS_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(FOREIGN_WEBHOOK) } },
  },
  'GET /api/admin/webhooks/:id/deliveries': {
    id: 'listDeliveriesOfAnyWebhook',
    tag,
    summary: 'List what was or is to be delivered to a webhook of any user',
    description: 'Newest first, as its owner reads it, without the text of the receiver’s answers.',
    query: DELIVERY_LIST_QUERY,
    responses: { 200: { description: 'A page of them.', shape: pageOf(FOREIGN_WEBHOOK_DELIVERY) } },
    refusals: ['not_found'],
  },
  'GET /api/admin/health': {
    id: 'readHealth',
    tag,
    summary: 'How vendors, queues and limits are doing',
    responses: { 200: { description: 'The state at this moment.', shape: dataOf(HEALTH) } },
  },
  'GET /api/admin/usage/summary': {
    id: 'summariseUsageOfAllUsers',
    tag,
    summary: 'The usage of all users by time and group',
    description: 'As GET /api/usage/summary, also by user and by family, with the operator’s loss.',
    query: ALL_SUMMARY_QUERY,
    responses: { 200: { description: 'The summary.', shape: ALL_USAGE_SUMMARY } },
  },
  'GET /api/admin/usage/failures': {
    id: 'countFailures',
    tag,
    summary: 'What failed in a period, by code',
    description:
      'Tasks and chat calls of all users that failed, each counted when it ended, as in the summary. What was ' +
      'removed by age is not in it.',
    query: FAILURES_QUERY,
    responses: { 200: { description: 'The codes, the most frequent first.', shape: USAGE_FAILURES } },
  },
  'GET /api/admin/audit-entries': {
    id: 'listAuditEntries',
    tag,
    summary: 'Read the audit log',
    query: AUDIT_LIST_QUERY,
    responses: { 200: { description: 'A page of it.', shape: pageOf(AUDIT_ENTRY) } },
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;
