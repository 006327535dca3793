// A batch reads the rows of its own calls, however many others there are and whatever the planner
// believes of the table.
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import type { ChatCallEnd, NewChatCall } from '../../../db/chat/calls.ts';
import { moveAll } from '../../../db/chat/chat-moves.ts';
import { forkEm, type Em } from '../../../db/database.ts';
import { createUser } from '../../../db/identity/users.ts';
import { makeId } from '../../../db/ids.ts';
import { createApiKey } from '../../../db/keys/api-keys.ts';
import { grantOnce } from '../../support/credits.ts';
import { Secrets } from '../../../db/secrets.ts';
import { createDatabase } from '../../support/servers/database.ts';

const BATCH = 10;
const OTHERS = 300;
const LEASE_SECONDS = 60;

describe('a batch of settlements', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  const usual = (): Em => forkEm(stored.database);
  before(async () => {
    stored = await createDatabase(1); // one connection, which keeps the plans it has made
  });
  after(() => stored.drop());

  it('finds each call by its key, in a new table and in one with statistics', async () => {
    const calls = await reserveMany(OTHERS + 3 * BATCH);
    const read: number[] = [await settle(calls.slice(0, BATCH))];
    await usual().execute('analyze chat_call');
    read.push(await settle(calls.slice(BATCH, 2 * BATCH)));
    await settle(calls.slice(3 * BATCH)); // nearly all have ended, and the index of open calls knows them still
    await usual().execute('analyze chat_call');
    read.push(await settle(calls.slice(2 * BATCH, 3 * BATCH)));
    expect(read).to.deep.equal([BATCH, BATCH, BATCH]);
  });

  for (const early of [1, 5, 30])
    it(`finds them by a plan that was made when there were ${early} and the statistics said so`, async () => {
      const fresh = await createDatabase(1);
      try {
        const own = (): Em => forkEm(fresh.database);
        const first = await reserveMany(early, own);
        await own().execute('analyze chat_call');
        await settle(first, own);
        const calls = await reserveMany(OTHERS, own);
        expect(await settle(calls.slice(0, BATCH), own)).to.equal(BATCH);
        await settle(calls.slice(2 * BATCH), own);
        expect(await settle(calls.slice(BATCH, 2 * BATCH), own)).to.equal(BATCH);
      } finally {
        await fresh.drop();
      }
    });

  async function reserveMany(count: number, em = usual): Promise<NewChatCall[]> {
    const email = `${makeId('usr')}@example.com`;
    const userId =
      (await createUser(em(), { email, password: 'correct horse battery', permissions: [] })) ?? '';
    const granted = { userId, amount: 1_000_000n, idempotencyKey: userId, description: 'Credits' };
    await grantOnce(em(), granted);
    const secrets = new Secrets([{ id: 'k', bytes: randomBytes(32) }]);
    const { id: keyId } = await createApiKey(em(), secrets, { userId, name: 'Key' });
    const call = {
      userId,
      keyId,
      requestId: 'r',
      model: 'm',
      stream: false,
      amount: 10n,
      amountMax: 10n,
      claim: null,
    };
    const calls = Array.from({ length: count }, () => ({ ...call, id: makeId('call') }));
    const moves = calls.map((each) => ({ kind: 'reservation', call: each }) as const);
    const verdicts = await moveAll(em(), moves, LEASE_SECONDS);
    const reserved = { kind: 'reserved', amount: call.amount };
    expect(verdicts).to.deep.equal(calls.map(() => reserved));
    return calls;
  }

  /** Settles in one transaction, and answers how many rows of calls it has read. */
  function settle(calls: readonly NewChatCall[], em = usual): Promise<number> {
    return em().transactional(async (tx) => {
      const before = await countRead(tx);
      const moves = calls.map((call) => ({ kind: 'end', end: ended(call) }) as const);
      await moveAll(tx, moves, LEASE_SECONDS);
      return (await countRead(tx)) - before;
    });
  }

  /** Rows of calls that this connection has read since its counts were last collected. */
  async function countRead(tx: Em): Promise<number> {
    const [read] = await tx.execute<{ rows: number }[]>(
      `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'chat_call'`,
    );
    return read?.rows ?? 0;
  }
});

function ended({ id, userId, keyId }: NewChatCall): ChatCallEnd {
  return {
    id,
    userId,
    keyId,
    charged: 5n,
    loss: 0n,
    status: 'completed',
    promptTokens: 1,
    completionTokens: 1,
    billingBasis: 'upstream',
    latencyMs: 1,
    upstreamRequestId: null,
    errorCode: null,
    errorMessage: null,
    answer: null,
    tried: [],
  };
}
