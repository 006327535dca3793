// Reads balance and ledger, in the same way for an API key and for a session.
import { z } from 'zod';
import { findAccount, listTransfers } from '../../db/ledger/accounts.ts';
import type { RequestContext, KeyCaller, Reply, SessionCaller } from '../context.ts';
import { cutPage } from '../http/pages.ts';
import { queryInteger, readQuery } from '../http/request-fields.ts';
import { presentBalance, presentLedgerLine } from './views.ts';

/** The number of a line of the ledger. */
const LEDGER_CURSOR = /^\d{1,18}$/;

/** Schema of a cursor of the ledger; absent for the first page. */
export function ledgerCursor(hint: string) {
  return z.string().regex(LEDGER_CURSOR, hint).optional();
}

export const BALANCE_QUERY = z.object({
  includeLedger: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
  limit: queryInteger(1, 200, 50),
  cursor: ledgerCursor('use a ledgerNextCursor'),
});

export async function readBalance({
  em,
  caller,
  query,
}: RequestContext<KeyCaller | SessionCaller>): Promise<Reply> {
  const { includeLedger, limit, cursor } = readQuery(BALANCE_QUERY, query);
  const account = await findAccount(em, caller.user.id);
  const balance = presentBalance(account);
  if (includeLedger === '0') return { status: 200, body: { data: balance } };
  // What was transferred since the account was read is not in its balance either.
  const beforeSequence = cursor === undefined ? account.sequence + 1n : BigInt(cursor);
  const lines = await listTransfers(em, caller.user.id, { limit: limit + 1, beforeSequence });
  const page = cutPage(lines, limit, ({ sequence }) => String(sequence));
  const data = {
    ...balance,
    ledger: page.rows.map(presentLedgerLine),
    ledgerHasMore: page.hasMore,
    ledgerNextCursor: page.nextCursor,
  };
  return { status: 200, body: { data } };
}
