// What administrators read of one user beside its record: keys, sessions and the statement of the account.
import { z } from 'zod';
import { listOwnKeys } from '../../db/keys/api-keys.ts';
import { listTransfers } from '../../db/ledger/accounts.ts';
import { listOwnSessions } from '../../db/identity/sessions.ts';
import { findUserRecord } from '../../db/identity/user-records.ts';
import { GatewayError } from '../../domain/errors.ts';
import { ledgerCursor } from '../account/balance.ts';
import { presentKey, presentLedgerLine, presentSession } from '../account/views.ts';
import { KEY_LIST_QUERY } from '../console/keys.ts';
import { SESSION_LIST_QUERY } from '../console/sessions.ts';
import type { RequestContext, Reply, SessionCaller } from '../context.ts';
import { answerPage, cutPage } from '../http/pages.ts';
import { queryInteger, readId, readQuery } from '../http/request-fields.ts';

export const LEDGER_LIST_QUERY = z.object({
  limit: queryInteger(1, 100, 20),
  cursor: ledgerCursor('use a nextCursor').describe('The `nextCursor` of the page before.'),
});

export async function listKeysOfUser(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor } = readQuery(KEY_LIST_QUERY, ctx.query);
  const userId = await readUserId(ctx);
  const found = await listOwnKeys(ctx.em, userId, { limit: limit + 1, beforeId: cursor ?? null });
  return answerPage(found, limit, presentKey);
}

export async function listSessionsOfUser(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor } = readQuery(SESSION_LIST_QUERY, ctx.query);
  const userId = await readUserId(ctx);
  const found = await listOwnSessions(ctx.em, userId, { limit: limit + 1, beforeId: cursor ?? null });
  return answerPage(found, limit, (session) => presentSession(session, ctx.caller.session.id));
}

export async function listLedgerOfUser(ctx: RequestContext<SessionCaller>): Promise<Reply> {
  const { limit, cursor } = readQuery(LEDGER_LIST_QUERY, ctx.query);
  const userId = await readUserId(ctx);
  const beforeSequence = cursor === undefined ? null : BigInt(cursor);
  const found = await listTransfers(ctx.em, userId, { limit: limit + 1, beforeSequence });
  const { rows, ...page } = cutPage(found, limit, ({ sequence }) => String(sequence));
  return { status: 200, body: { data: rows.map(presentLedgerLine), ...page } };
}

/** The user of the path. Throws 404 where there is none. */
async function readUserId({ em, params }: RequestContext<SessionCaller>): Promise<string> {
  const record = await findUserRecord(em, readId('usr', params));
  if (!record) throw new GatewayError('not_found');
  return record.id;
}
