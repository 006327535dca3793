// A repeat takes over the key of a chat call that was settled as abandoned: one of the two is charged.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { ChatCallEnd, NewChatCall } from '../../../db/chat/calls.ts';
import { createChatCalls, settleAbandonedCalls, type ChatCalls } from '../../../db/chat/chat-ledger.ts';
import { forkEm, type Em } from '../../../db/database.ts';
import { makeId } from '../../../db/ids.ts';
import { identifyRequest } from '../../../db/idempotency/idempotency-keys.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createSpender, type Spender } from '../../support/ledger/spender.ts';
import { createDatabase } from '../../support/servers/database.ts';

const CREDIT = parseCredits(1);

describe('a chat call that was settled as abandoned although its process only slept', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  let calls: ChatCalls;
  let who: Spender;
  const em = (): Em => forkEm(stored.database);

  before(async () => {
    stored = await createDatabase();
    calls = createChatCalls(stored.database, 60);
  });
  beforeEach(async () => {
    who = await createSpender(em(), 10);
  });
  afterEach(async () => expect(await findViolations(em())).to.deep.equal([]));
  after(() => stored.drop());

  it('charges nothing when it wakes after a repeat with its key, which is charged', async () => {
    const slept = await abandon();
    const repeat = newCall(slept.id);
    expect(await calls.reserve(repeat)).to.deep.equal({ kind: 'reserved', amount: CREDIT });
    expect(await calls.settle(ended(slept))).to.equal(0n);
    expect(await calls.settle(ended(repeat))).to.equal(CREDIT);
    expect(await balance()).to.equal(9n * CREDIT);
  });

  it('keeps its key when it wakes and is charged before the repeat, which reserves nothing', async () => {
    const slept = await abandon();
    const repeat = newCall(slept.id);
    expect(await calls.settle(ended(slept))).to.equal(CREDIT);
    expect(await calls.reserve(repeat)).to.deep.equal({ kind: 'key_taken' });
    expect(await subjectOfKey()).to.equal(slept.id);
    expect(await balance()).to.equal(9n * CREDIT);
  });

  async function abandon(): Promise<NewChatCall> {
    const call = newCall(null);
    await calls.reserve(call);
    await em().execute(sql`update chat_call set lease_until = now() - interval '1 s' where id = ${call.id}`);
    expect(await settleAbandonedCalls(em())).to.deep.equal({ settled: 1, contradictory: [] });
    return call;
  }

  /** A call with the same key; `undoneId`: the one that it repeats. */
  function newCall(undoneId: string | null): NewChatCall {
    const target = { userId: who.userId, method: 'POST', path: '/v1/chat/completions' };
    const request = identifyRequest(target, 'key', 'content');
    const claim = { request, rowId: makeId('idm'), undoneId };
    const about = { model: 'gpt', stream: false, requestId: 'r', amount: CREDIT, amountMax: CREDIT, claim };
    return { id: makeId('call'), ...who, ...about };
  }

  function ended({ id, userId, keyId }: NewChatCall): ChatCallEnd {
    return {
      ...{ id, userId, keyId, charged: CREDIT, loss: 0n, status: 'completed', tried: [], answer: null },
      ...{ promptTokens: 1, completionTokens: 2, billingBasis: 'upstream', latencyMs: 5 },
      ...{ upstreamRequestId: null, errorCode: null, errorMessage: null },
    };
  }

  async function balance(): Promise<bigint> {
    const [row] = await em().execute<{ balance: string }[]>(
      sql`select balance from account where user_id = ${who.userId}`,
    );
    return BigInt(row?.balance ?? -1);
  }

  async function subjectOfKey(): Promise<string | undefined> {
    const [row] = await em().execute<{ id: string }[]>(
      sql`select subject_id as id from idempotency_key where user_id = ${who.userId}`,
    );
    return row?.id;
  }
});
