// The money of chat calls: reserved and settled many at a time, each decided as if it were alone.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { ChatCallEnd, NewChatCall } from '../../../db/chat/calls.ts';
import {
  createChatCalls,
  settleAbandonedCalls,
  type AbandonedCalls,
  type ChatCallProgress,
  type ChatCalls,
} from '../../../db/chat/chat-ledger.ts';
import { makeId } from '../../../db/ids.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createSpender, type Spender } from '../../support/ledger/spender.ts';
import { createDatabase } from '../../support/servers/database.ts';
import { forkEm, type Em } from '../../../db/database.ts';

const CREDIT = parseCredits(1);

describe('the money of chat calls', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  let calls: ChatCalls;
  const em = (): Em => forkEm(stored.database);

  before(async () => {
    stored = await createDatabase();
    calls = createChatCalls(stored.database, 60);
  });
  afterEach(async () => expect(await findViolations(em())).to.deep.equal([]));
  after(() => stored.drop());

  it('is reserved, then charged up to what was reserved; the rest returns', async () => {
    const who = await createSpender(em(), 10);
    const call = newCall(who, 4);
    expect(await calls.reserve(call)).to.deep.equal({ kind: 'reserved', amount: 4n * CREDIT });
    expect(await account(who)).to.deep.equal({ balance: '10000000', reserved: '4000000' });
    await calls.settle(ended(call, 3));
    expect(await account(who)).to.deep.equal({ balance: '7000000', reserved: '0' });
    await calls.settle(ended(call, 4));
    expect(await account(who), 'settled once').to.deep.equal({ balance: '7000000', reserved: '0' });
  });

  it('returns as a whole when nothing is charged', async () => {
    const who = await createSpender(em(), 10);
    const call = newCall(who, 4);
    await calls.reserve(call);
    await calls.settle({ ...ended(call, 0), status: 'failed', billingBasis: 'none' });
    expect(await account(who)).to.deep.equal({ balance: '10000000', reserved: '0' });
  });

  it('lets exactly ten of a hundred parallel calls through when the credits are for ten', async () => {
    const who = await createSpender(em(), 10);
    const inputs = Array.from({ length: 100 }, () => newCall(who, 1));
    const verdicts = await Promise.all(inputs.map((input) => calls.reserve(input)));
    expect(verdicts.filter(({ kind }) => kind === 'reserved')).to.have.length(10);
    expect(verdicts.findLast(({ kind }) => kind === 'refused')).to.deep.equal({
      kind: 'refused',
      reason: 'insufficient_credits',
      available: 0n,
    });
  });

  it('does not let a call that is too large stand in the way of those that fit', async () => {
    const who = await createSpender(em(), 10);
    const verdicts = await Promise.all(
      [1, 100, 2, 100, 3, 4].map((credits) => calls.reserve(newCall(who, credits))),
    );
    expect(verdicts.map(({ kind }) => kind)).to.deep.equal([
      'reserved',
      'refused',
      'reserved',
      'refused',
      'reserved',
      'reserved',
    ]);
  });

  it('keeps a key’s quota and budget, whatever the account still has', async () => {
    const limited = await createSpender(em(), 1000, { quota: parseCredits(3) });
    const budgeted = await createSpender(em(), 1000, { dailyBudget: parseCredits(2) });
    for (const [who, fits, reason] of [
      [limited, 3, 'key_quota_exceeded'],
      [budgeted, 2, 'daily_budget_exceeded'],
    ] as const) {
      const verdicts = await Promise.all(Array.from({ length: 8 }, () => calls.reserve(newCall(who, 1))));
      expect(verdicts.filter(({ kind }) => kind === 'reserved')).to.have.length(fits);
      expect(verdicts.at(-1)).to.include({ kind: 'refused', reason });
    }
  });

  it('refuses a revoked key, a disabled user and a model beyond the scope, beside others that are in order', async () => {
    const [good, revoked, disabled, scoped] = await Promise.all([
      createSpender(em(), 10),
      createSpender(em(), 10),
      createSpender(em(), 10),
      createSpender(em(), 10, { modelScope: ['another'] }),
    ]);
    await em().execute(sql`update api_key set revoked_at = now() where id = ${revoked.keyId}`);
    await em().execute(sql`update app_user set disabled_at = now() where id = ${disabled.userId}`);
    const verdicts = await Promise.all(
      [good, revoked, disabled, scoped, good].map((who) => calls.reserve(newCall(who, 1))),
    );
    expect(
      verdicts.map((verdict) => (verdict.kind === 'refused' ? verdict.reason : verdict.kind)),
    ).to.deep.equal(['reserved', 'invalid_api_key', 'account_disabled', 'model_not_allowed', 'reserved']);
  });

  it('is settled for many users and keys in one statement', async () => {
    const people = await Promise.all([
      createSpender(em(), 50),
      createSpender(em(), 50),
      createSpender(em(), 50),
    ]);
    const inputs = Array.from({ length: 30 }, (_, index) => newCall(people[index % 3] ?? missing(), 1));
    await Promise.all(inputs.map((input) => calls.reserve(input)));
    await Promise.all(inputs.map((input, index) => calls.settle(ended(input, index % 2))));
    const balances = await Promise.all(people.map(account));
    expect(balances).to.deep.equal(people.map(() => ({ balance: '45000000', reserved: '0' })));
  });

  it('is charged with what was known when the process that made the call is dead', async () => {
    const who = await createSpender(em(), 10);
    const [known, unknown, alive] = [newCall(who, 4), newCall(who, 2), newCall(who, 1)];
    for (const call of [known, unknown, alive]) await calls.reserve(call);
    expect(await calls.renewLease(progress(known, 3))).to.equal(true);
    await em().execute(sql`
      update chat_call set lease_until = now() - interval '1 second' where id <> ${alive.id} and user_id = ${who.userId}`);
    expect(await settleAbandonedCalls(em())).to.deep.equal({ settled: 2, contradictory: [] });
    expect(await account(who)).to.deep.equal({ balance: '7000000', reserved: '1000000' });
    expect(await calls.renewLease(progress(known, 4)), 'its lease is over').to.equal(false);
    const rows = await em().execute(sql`
      select status, billing_basis as basis, completion_tokens as tokens from chat_call
      where user_id = ${who.userId} and status <> 'open' order by credits_charged desc`);
    expect(rows).to.deep.equal([
      { status: 'failed', basis: 'estimated', tokens: 9 },
      { status: 'failed', basis: 'none', tokens: null },
    ]);
    await calls.settle(ended(alive, 1));
  });

  it('is settled beside a call whose account contradicts it, which is tried again', async () => {
    const [broken, sound] = [await createSpender(em(), 10), await createSpender(em(), 10)];
    await Promise.all([broken, sound].map((who) => calls.reserve(newCall(who, 4))));
    await setReserved(broken, 0n);
    expect(await abandon(broken)).to.include({ settled: 0 });
    const { settled, contradictory } = await abandon(sound);
    expect([settled, contradictory.length]).to.deep.equal([1, 1]);
    await setReserved(broken, 4n * CREDIT);
    expect(await abandon(broken)).to.deep.equal({ settled: 1, contradictory: [] });
    expect(await account(broken)).to.deep.equal({ balance: '10000000', reserved: '0' });
  });

  it('that was taken for abandoned is corrected once by its own end: charged more, or booked as loss', async () => {
    const who = await createSpender(em(), 10);
    const [more, less, poor] = [newCall(who, 4), newCall(who, 2), newCall(who, 4)];
    for (const call of [more, less, poor]) await calls.reserve(call);
    await calls.renewLease(progress(more, 1));
    await calls.renewLease(progress(less, 2));
    await abandon(who);
    expect(await account(who)).to.deep.equal({ balance: '7000000', reserved: '0' });
    expect(await calls.settle(ended(more, 4)), 'charged in the end').to.equal(4n * CREDIT);
    expect(await calls.settle(ended(less, 1)), 'nothing returns').to.equal(2n * CREDIT);
    expect(await account(who)).to.deep.equal({ balance: '4000000', reserved: '0' });
    const others = newCall(who, 3);
    await calls.reserve(others);
    expect(await calls.settle(ended(poor, 4)), 'one credit is free').to.equal(0n);
    expect(await calls.settle(ended(more, 1)), 'again').to.equal(4n * CREDIT);
    await calls.settle(ended(others, 0));
    expect(await account(who)).to.deep.equal({ balance: '4000000', reserved: '0' });
    const rows = await em().execute<object[]>(sql`
      select status, credits_charged as charged, loss, completion_tokens as tokens from chat_call
      where user_id = ${who.userId} order by credits_charged desc, loss desc`);
    expect(rows).to.deep.equal([
      { status: 'completed', charged: '4000000', loss: '0', tokens: 2 },
      { status: 'completed', charged: '2000000', loss: '0', tokens: 2 },
      { status: 'completed', charged: '0', loss: '4000000', tokens: 2 },
      { status: 'completed', charged: '0', loss: '0', tokens: 2 },
    ]);
  });

  it('ends as it should beside one with a text that the database cannot store', async () => {
    const [who, other] = await Promise.all([createSpender(em(), 10), createSpender(em(), 10)]);
    const [odd, plain] = [newCall(who, 1), newCall(other, 1)];
    odd.requestId = 'half of an emoji \ud83d and a \0';
    expect(await Promise.all([odd, plain].map((call) => calls.reserve(call)))).to.deep.equal([
      { kind: 'reserved', amount: CREDIT },
      { kind: 'reserved', amount: CREDIT },
    ]);
    const tried = [{ family: 'f', credential: '\0', outcome: '\ud83d' }];
    const end = { ...ended(odd, 1), errorMessage: 'cut \ud83d', upstreamRequestId: 'a\0b', tried };
    await Promise.all([calls.settle(end), calls.settle(ended(plain, 1))]);
    expect(await account(who)).to.deep.equal({ balance: '9000000', reserved: '0' });
    expect(await account(other)).to.deep.equal({ balance: '9000000', reserved: '0' });
  });

  it('fails alone when its data are refused', async () => {
    const people = await Promise.all([
      createSpender(em(), 10),
      createSpender(em(), 10),
      createSpender(em(), 10),
    ]);
    const [first, bad, good] = people.map((who) => newCall(who, 1));
    if (!first || !bad || !good) throw new Error('there are three');
    for (const call of [first, bad, good]) await calls.reserve(call);
    const ends = [ended(first, 1), ended(bad, 2), ended(good, 1)]; // more than was reserved
    const [, refused, taken] = await Promise.allSettled(ends.map((end) => calls.settle(end)));
    expect([refused?.status, taken?.status]).to.deep.equal(['rejected', 'fulfilled']);
    await calls.settle(ended(bad, 1));
  });

  function progress({ id, userId }: NewChatCall, credits: number): ChatCallProgress {
    return { id, userId, charge: CREDIT * BigInt(credits), promptTokens: 7, completionTokens: 9 };
  }

  async function abandon({ userId }: Spender): Promise<AbandonedCalls> {
    await em().execute(sql`
      update chat_call set lease_until = now() - interval '1 second' where user_id = ${userId} and status = 'open'`);
    return settleAbandonedCalls(em());
  }

  async function setReserved({ userId }: Spender, reserved: bigint): Promise<void> {
    await em().execute(sql`update account set reserved = ${reserved} where user_id = ${userId}`);
  }

  function newCall(who: Spender, credits: number): NewChatCall {
    const amount = CREDIT * BigInt(credits);
    const about = { model: 'gpt', stream: false, requestId: 'r' };
    return { id: makeId('call'), ...who, ...about, amount, amountMax: amount, claim: null };
  }

  function ended({ id, userId, keyId }: NewChatCall, credits: number): ChatCallEnd {
    return {
      ...{ id, userId, keyId, charged: CREDIT * BigInt(credits), loss: 0n, status: 'completed' },
      ...{ promptTokens: 1, completionTokens: 2, billingBasis: 'upstream', latencyMs: 5, tried: [] },
      ...{ upstreamRequestId: null, errorCode: null, errorMessage: null, answer: null },
    };
  }

  async function account({ userId }: Spender): Promise<unknown> {
    const [row] = await em().execute<object[]>(
      sql`select balance, reserved from account where user_id = ${userId}`,
    );
    return row;
  }
});

function missing(): never {
  throw new Error('there is no such spender');
}
