// Ends and reservations of chat calls in one statement: what returns is there for the next call, and each
// key's day counts what began and was charged on it.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { ChatCallEnd, NewChatCall } from '../../../db/chat/calls.ts';
import { settleAbandonedCalls } from '../../../db/chat/chat-ledger.ts';
import { moveAll, type Move, type Moved } from '../../../db/chat/chat-moves.ts';
import { forkEm, type Em } from '../../../db/database.ts';
import { makeId } from '../../../db/ids.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createSpender, type Spender } from '../../support/ledger/spender.ts';
import { createDatabase } from '../../support/servers/database.ts';

const CREDIT = parseCredits(1);
const RESERVED = (credits: number) => ({ kind: 'reserved', amount: CREDIT * BigInt(credits) });

describe('moves of chat calls in one statement', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  const em = (): Em => forkEm(stored.database);

  before(async () => {
    stored = await createDatabase();
  });
  afterEach(async () => expect(await findViolations(em())).to.deep.equal([]));
  after(() => stored.drop());

  it('give an account its credits back before its next call, and others theirs', async () => {
    const [poor, rich] = await Promise.all([createSpender(em(), 4), createSpender(em(), 100)]);
    const [first, second, other, next] = [call(poor, 4), call(poor, 3), call(rich, 1), call(rich, 2)];
    await move(begin(first), begin(other));
    const moved = await move(begin(second), end(first, 1), end(other, 1), begin(next));
    expect(moved).to.deep.equal([RESERVED(3), CREDIT, CREDIT, RESERVED(2)]);
    expect(await account(poor)).to.deep.equal({ balance: '3000000', reserved: '3000000', sequence: '2' });
    expect(await account(rich)).to.deep.equal({ balance: '99000000', reserved: '2000000', sequence: '2' });
  });

  it('write one account once for all of its calls, and number its charges in their order', async () => {
    const who = await createSpender(em(), 100);
    const before = [call(who, 3), call(who, 3), call(who, 3)];
    const after = [call(who, 5), call(who, 6)];
    await move(...before.map(begin));
    const ends = before.map((ended, index) => end(ended, index));
    expect(await move(...ends, ...after.map(begin))).to.deep.equal([
      ...[0n, CREDIT, 2n * CREDIT],
      ...[RESERVED(5), RESERVED(6)],
    ]);
    expect(await account(who)).to.deep.equal({ balance: '97000000', reserved: '11000000', sequence: '3' });
    const transfers = await em().execute<object[]>(sql`
      select call_id as id, balance_after as after from ledger_transfer
      where account_id = ${who.userId} and kind = 'charge' order by sequence`);
    expect(transfers).to.deep.equal([
      { id: before[1]?.id, after: '99000000' },
      { id: before[2]?.id, after: '97000000' },
    ]);
  });

  it('refuse one call and grant the others, while another account’s call ends', async () => {
    const [poor, rich] = await Promise.all([createSpender(em(), 1), createSpender(em(), 100)]);
    const [running, fits, tooMuch] = [call(rich, 1), call(poor, 1), call(poor, 1)];
    await move(begin(running));
    expect(await move(end(running, 1), begin(fits), begin(tooMuch))).to.deep.equal([
      CREDIT,
      RESERVED(1),
      { kind: 'refused', reason: 'insufficient_credits', available: 0n },
    ]);
  });

  it('give a call less than its most where half of the credits is taken', async () => {
    const who = await createSpender(em(), 100);
    const [large, long] = [call(who, 40), { ...call(who, 1), amountMax: 90n * CREDIT }];
    await move(begin(large));
    expect(await move(begin(long))).to.deep.equal([{ kind: 'reserved', amount: 2_500_000n }]);
  });

  it('correct a call that was settled as abandoned before they judge the next one', async () => {
    const who = await createSpender(em(), 10);
    const [late, next] = [call(who, 4), call(who, 7)];
    await move(begin(late));
    await em().execute(sql`update chat_call set lease_until = now() - interval '1 s' where id = ${late.id}`);
    await settleAbandonedCalls(em());
    expect(await move(end(late, 4), begin(next))).to.deep.equal([
      4n * CREDIT,
      { kind: 'refused', reason: 'insufficient_credits', available: 6n * CREDIT },
    ]);
  });

  it('count on the day on which a call began, also beside the first call of a new day', async () => {
    const who = await createSpender(em(), 100);
    const [old, next] = [call(who, 4), call(who, 5)];
    await move(begin(old));
    await setBack(who);
    await move(end(old, 3), begin(next));
    expect(await day(who)).to.deep.equal({ isToday: true, used: '0', reserved: '5000000' });
  });

  it('count a call of yesterday no more once the key’s day is today', async () => {
    const who = await createSpender(em(), 100);
    const [old, today, next] = [call(who, 4), call(who, 5), call(who, 6)];
    await move(begin(old));
    await setBack(who);
    await move(begin(today));
    await move(end(old, 3), end(today, 2), begin(next));
    expect(await day(who)).to.deep.equal({ isToday: true, used: '2000000', reserved: '6000000' });
  });

  it('count an end on yesterday while no call has begun today', async () => {
    const who = await createSpender(em(), 100);
    const [ended, open] = [call(who, 4), call(who, 5)];
    await move(begin(ended), begin(open));
    await setBack(who);
    await move(end(ended, 3));
    expect(await day(who)).to.deep.equal({ isToday: false, used: '3000000', reserved: '5000000' });
  });

  function move(...moves: Move[]): Promise<Moved[]> {
    return moveAll(em(), moves, 60);
  }

  /** Dates the open calls and the spending of the key one day earlier. */
  async function setBack({ keyId }: Spender): Promise<void> {
    await em().execute(sql`update chat_call set day = day - 1 where key_id = ${keyId} and status = 'open'`);
    await em().execute(sql`update key_spending set day = day - 1 where key_id = ${keyId}`);
  }

  async function account({ userId }: Spender): Promise<unknown> {
    const rows = await em().execute<object[]>(
      sql`select balance, reserved, sequence from account where user_id = ${userId}`,
    );
    return rows[0];
  }

  async function day({ keyId }: Spender): Promise<unknown> {
    const rows = await em().execute<object[]>(sql`
      select day = (now() at time zone 'utc')::date as "isToday", day_used as used, day_reserved as reserved
      from key_spending where key_id = ${keyId}`);
    return rows[0];
  }
});

function call(who: Spender, credits: number): NewChatCall {
  const amount = CREDIT * BigInt(credits);
  const about = { model: 'gpt', stream: false, requestId: 'r' };
  return { id: makeId('call'), ...who, ...about, amount, amountMax: amount, claim: null };
}

function begin(one: NewChatCall): Move {
  return { kind: 'reservation', call: one };
}

function end({ id, userId, keyId }: NewChatCall, credits: number): Move {
  const outcome: ChatCallEnd = {
    ...{ id, userId, keyId, charged: CREDIT * BigInt(credits), loss: 0n, status: 'completed' },
    ...{ promptTokens: 1, completionTokens: 2, billingBasis: 'upstream', latencyMs: 5, tried: [] },
    ...{ upstreamRequestId: null, errorCode: null, errorMessage: null, answer: null },
  };
  return { kind: 'end', end: outcome };
}
