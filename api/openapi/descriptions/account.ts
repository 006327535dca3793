// Descriptions of the routes for balances, API keys and redeeming codes.
import { BALANCE_QUERY } from '../../account/balance.ts';
import { KEY_CHANGES, KEY_LIST_QUERY, NEW_KEY_BODY } from '../../console/keys.ts';
import { REDEEM_BODY } from '../../console/redeem.ts';
import { OWN_SUMMARY_QUERY } from '../../console/usage-summary.ts';
import type { RouteDescription } from '../route-description.ts';
import { z } from 'zod';
import { BALANCE_WITH_LEDGER, KEY, NEW_KEY, REDEMPTION_RECEIPT, TOKEN_USAGE } from '../../shapes/account.ts';
import { dataOf, pageOf } from '../../shapes/basics.ts';
import { USAGE_SUMMARY } from '../../shapes/usage.ts';

const balance = {
  tag: 'Balance',
  query: BALANCE_QUERY,
  responses: {
    200: {
      description: 'The balance; with `includeLedger=1` the ledger too.',
      shape: dataOf(BALANCE_WITH_LEDGER),
    },
  },
} as const satisfies Partial<RouteDescription>;
const keys = 'Console: API keys';

export const ACCOUNT_DESCRIPTIONS = {
  'GET /v1/balance': { id: 'readBalance', summary: 'The balance of the key’s account', ...balance },
  'GET /api/balance': { id: 'readBalanceInConsole', summary: 'Your balance', ...balance },
  'GET /api/usage/token': {
    id: 'readTokenUsage',
    tag: 'Balance',
    summary: 'What the key may still spend',
    responses: {
      200: {
        description: 'Quota, daily budget, scope and end of the key that asks.',
        shape: z.strictObject({ code: z.literal(true), message: z.literal('ok'), data: TOKEN_USAGE }),
      },
    },
  },
  'GET /api/usage/summary': {
    id: 'summariseUsage',
    tag: 'Balance',
    summary: 'Your usage by time and group',
    description:
      'Credits are the charges less the refunds of the ledger, each at the time of its transfer; tasks and calls count when they ended. Computed when asked: at most 32 days by the hour and 400 days by day or month, at most 10,000 rows.',
    query: OWN_SUMMARY_QUERY,
    responses: { 200: { description: 'The summary.', shape: USAGE_SUMMARY } },
  },
  'GET /api/keys': {
    id: 'listKeys',
    tag: keys,
    summary: 'List your keys',
    query: KEY_LIST_QUERY,
    responses: { 200: { description: 'A page of them, revoked ones included.', shape: pageOf(KEY) } },
  },
  'POST /api/keys': {
    id: 'createKey',
    tag: keys,
    summary: 'Make a key',
    description:
      'The answer is the only place where the key itself appears. Verify your identity first: POST /api/verify.',
    body: {
      schema: NEW_KEY_BODY,
      examples: {
        'A small one': { name: 'small', quota: 50, dailyBudget: 8, modelScope: ['gpt-image-2'] },
        'Without limits': { name: 'server' },
      },
    },
    responses: { 201: { description: 'The entry and its key.', shape: dataOf(NEW_KEY) } },
    refusals: ['key_limit_reached'],
  },
  'PATCH /api/keys/:id': {
    id: 'changeKey',
    tag: keys,
    summary: 'Change a key’s name or limits',
    description:
      'Absent fields stay as they are; null removes a limit. Raising or removing a limit needs a fresh proof of identity: POST /api/verify.',
    body: { schema: KEY_CHANGES, examples: { 'A higher quota': { quota: 200 } } },
    responses: { 200: { description: 'The entry.', shape: dataOf(KEY) } },
    refusals: ['verification_required', 'not_found', 'key_revoked'],
  },
  'DELETE /api/keys/:id': {
    id: 'revokeKey',
    tag: keys,
    summary: 'Revoke a key',
    description: 'From this moment it cannot spend. Revoking it again changes nothing.',
    responses: { 200: { description: 'The entry.', shape: dataOf(KEY) } },
    refusals: ['not_found'],
  },
  'POST /api/redeem': {
    id: 'redeem',
    tag: 'Redeem codes',
    summary: 'Redeem a code',
    description: 'Case, spaces and hyphens do not matter.',
    body: { schema: REDEEM_BODY, examples: { 'A code': { code: 'SVC-7KQ2-M4TX-9RWB-C3HN' } } },
    responses: { 200: { description: 'The credits were added.', shape: dataOf(REDEMPTION_RECEIPT) } },
    refusals: [
      'redeem_code_not_found',
      'redeem_code_disabled',
      'redeem_code_expired',
      'redeem_code_exhausted',
      'redeem_limit_reached',
      'balance_limit',
    ],
  },
} as const satisfies Readonly<Record<string, RouteDescription>>;
