// A move of money reads the counters of its own accounts, however many others there are and whatever the
// planner believes of the tables.
import { expect } from 'chai';
import type { ChatCallEnd, NewChatCall } from '../../../db/chat/calls.ts';
import { moveAll } from '../../../db/chat/chat-moves.ts';
import { forkEm, type Em } from '../../../db/database.ts';
import { insertUser } from '../../../db/identity/users.ts';
import { makeId } from '../../../db/ids.ts';
import { grantOnce } from '../../support/credits.ts';
import { addKey, createSpender, type Spender } from '../../support/ledger/spender.ts';
import { createDatabase } from '../../support/servers/database.ts';

const OTHERS = 400;
const LEASE_SECONDS = 60;
const COUNTERS = ['account', 'key_spending', 'api_key'];
/** A move of one call reads each of its counters a few times. */
const READ_MAX = 30;

describe('a move of money', () => {
  it('reads its own counters by a plan that was made when there was one account, and there are hundreds', async () => {
    const fresh = await createDatabase(1); // one connection, which keeps the plans it has made
    try {
      const em = (): Em => forkEm(fresh.database);
      const first = await createSpender(em(), 10);
      for (const table of COUNTERS) await em().execute(`analyze ${table}`);
      await moveOne(em(), first, 2n);
      await moveOne(em(), first, 1n);
      for (let index = 0; index < OTHERS; index += 1) await addSpender(em(), index);
      await moveOne(em(), first, 2n);
      await moveOne(em(), first, 1n);
      const before = await countRead(em());
      await moveOne(em(), first, 2n);
      await moveOne(em(), first, 1n);
      expect((await countRead(em())) - before).to.be.below(2 * READ_MAX);
    } finally {
      await fresh.drop();
    }
  });
});

async function addSpender(em: Em, index: number): Promise<void> {
  const userId = await insertUser(em, {
    email: `other-${index}@example.com`,
    passwordHash: '-',
    permissions: [],
  });
  if (!userId) throw new Error('the user was not created');
  await grantOnce(em, { userId, amount: 1_000_000n, idempotencyKey: userId, description: 'Credits' });
  await addKey(em, userId);
}

/** Reserves for a call and settles it, in two statements; `most` above 1: with an amount to choose. */
async function moveOne(em: Em, who: Spender, most: bigint): Promise<void> {
  const about = { model: 'm', stream: false, requestId: 'r', amount: 1n, amountMax: most, claim: null };
  const call: NewChatCall = { id: makeId('call'), ...who, ...about };
  const [verdict] = await moveAll(em, [{ kind: 'reservation', call }], LEASE_SECONDS);
  expect(verdict).to.include({ kind: 'reserved' });
  const end: ChatCallEnd = {
    ...{ id: call.id, ...who, charged: 1n, loss: 0n, status: 'completed', promptTokens: 1 },
    ...{ completionTokens: 1, billingBasis: 'upstream', latencyMs: 1, upstreamRequestId: null },
    ...{ errorCode: null, errorMessage: null, answer: null, tried: [] },
  };
  await moveAll(em, [{ kind: 'end', end }], LEASE_SECONDS);
}

/** Rows of counters that all connections have read. */
async function countRead(em: Em): Promise<number> {
  await em.execute('select pg_stat_force_next_flush()');
  const [read] = await em.execute<{ rows: number }[]>(
    `select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_user_tables
     where relname in (${COUNTERS.map((name) => `'${name}'`).join()})`,
  );
  return read?.rows ?? 0;
}
