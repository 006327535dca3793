// The idempotency keys of chat calls: claimed with the reservations of many calls, each as if it were alone.
import { expect } from 'chai';
import { createHash } from 'node:crypto';
import type { ChatCallVerdict, NewChatCall } from '../../../db/chat/calls.ts';
import { moveAll } from '../../../db/chat/chat-moves.ts';
import { createChatCalls } from '../../../db/chat/chat-ledger.ts';
import { forkEm, type Database, type Em } from '../../../db/database.ts';
import { makeId } from '../../../db/ids.ts';
import { identifyRequest } from '../../../db/idempotency/idempotency-keys.ts';
import { openKeptAnswers, type KeptAnswers } from '../../../db/idempotency/kept-answers.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { openDatabase } from '../../../db/open-database.ts';
import { Secrets } from '../../../db/secrets.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { createSpender, type Spender } from '../../support/ledger/spender.ts';
import { createDatabase } from '../../support/servers/database.ts';

const CREDIT = parseCredits(1);
const LEASE_SECONDS = 60;
const RESERVED = { kind: 'reserved', amount: CREDIT };
const TAKEN = { kind: 'key_taken' };
const ANSWER = { kind: 'reply', status: 200, body: { text: 'Hello' }, headers: {} } as const;

describe('the idempotency keys of chat calls', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  let answers: KeptAnswers;
  const secrets = new Secrets([{ id: 'k', bytes: createHash('sha256').update('ring').digest() }]);
  const em = (): Em => forkEm(stored.database);

  before(async () => {
    stored = await createDatabase();
    answers = openAnswers(stored.database);
  });
  afterEach(async () => expect(await findViolations(em())).to.deep.equal([]));
  after(() => stored.drop());

  it('are claimed once in a statement: the twin reserves nothing, its neighbours do', async () => {
    const [one, two] = [await createSpender(em(), 10), await createSpender(em(), 10)];
    const calls = [newCall(one, 'a'), newCall(one, 'a'), newCall(one, null), newCall(two, 'a')];
    expect(await reserve(calls)).to.deep.equal([RESERVED, TAKEN, RESERVED, RESERVED]);
    expect([await reservedOf(one), await reservedOf(two)]).to.deep.equal([2n * CREDIT, CREDIT]);
    expect(await reserve([newCall(one, 'a'), newCall(one, 'b')])).to.deep.equal([TAKEN, RESERVED]);
    expect(await reservedOf(one)).to.equal(3n * CREDIT);
  });

  it('stay free when the reservation is refused, beside one that is taken', async () => {
    const [poor, rich] = [await createSpender(em(), 1), await createSpender(em(), 10)];
    await reserve([newCall(rich, 'taken')]);
    const refused = newCall(poor, 'dear', 5);
    const verdicts = await reserve([refused, newCall(rich, 'taken'), newCall(poor, 'cheap')]);
    expect(verdicts).to.deep.equal([
      { kind: 'refused', reason: 'insufficient_credits', available: CREDIT },
      TAKEN,
      RESERVED,
    ]);
    expect(await find(refused)).to.equal(null);
    expect((await find(newCall(poor, 'cheap')))?.isLeased).to.equal(true);
  });

  it('are taken over after 24 hours, and from a call that was undone, unless it was answered', async () => {
    const who = await createSpender(em(), 10);
    const [old, undone, answered] = ['old', 'undone', 'answered'].map((key) => newCall(who, key));
    if (!old || !undone || !answered) throw new Error('a call is missing');
    await reserve([old, undone, answered]);
    await answers.keep(rowIdOf(answered), ANSWER);
    await em().execute(`update idempotency_key set created_at = now() - interval '25 hours' where id = ?`, [
      rowIdOf(old),
    ]);
    expect(await find(old)).to.equal(null);
    const again = [
      newCall(who, 'old'),
      newCall(who, 'undone', 1, undone.id),
      newCall(who, 'answered', 1, answered.id),
    ];
    expect(await reserve(again)).to.deep.equal([RESERVED, RESERVED, TAKEN]);
    expect((await find(undone))?.subjectId).to.equal(again[1]?.id);
    expect((await find(answered))?.answer).to.deep.equal(ANSWER);
  });

  it('are taken over once of several repeats of a call that was undone, in a statement and in two', async () => {
    const who = await createSpender(em(), 10);
    const undone = newCall(who, 'several');
    await reserve([undone]);
    const taking = newCall(who, 'several', 1, undone.id);
    const rowId = rowIdOf(undone); // each repeat has found that row, and goes on with it
    const repeats = [taking, newCall(who, 'several', 1, undone.id), newCall(who, 'several', 1, undone.id)];
    const [one, two, three] = repeats.map((call) => ({
      ...call,
      claim: call.claim && { ...call.claim, rowId },
    }));
    if (!one || !two || !three) throw new Error('a repeat is missing');
    expect(await reserve([newCall(who, 'several'), one, two])).to.deep.equal([TAKEN, RESERVED, TAKEN]);
    expect(await reserve([newCall(who, 'several'), three])).to.deep.equal([TAKEN, TAKEN]);
    expect(await reservedOf(who)).to.equal(2n * CREDIT);
    expect((await find(undone))?.subjectId).to.equal(taking.id);
  });

  it('show as taken without a wait for who writes to their rows, as the answer and a new key ring are', async () => {
    const who = await createSpender(em(), 10);
    const first = newCall(who, 'locked');
    await reserve([first]);
    const verdicts = await em().transactional(async (tx) => {
      await tx.execute('select from idempotency_key where id = ? for update', [rowIdOf(first)]);
      return reserve([newCall(who, 'locked'), newCall(who, 'beside')]);
    });
    expect(verdicts).to.deep.equal([TAKEN, RESERVED]);
  });

  it('keep the first answer, also of two at once and of a long one', async () => {
    const who = await createSpender(em(), 100);
    const calls = Array.from({ length: 20 }, (_, index) => newCall(who, `answer ${index}`));
    await reserve(calls);
    const long = { ...ANSWER, body: 'x'.repeat(300_000) };
    await Promise.all(calls.map((call, index) => answers.keep(rowIdOf(call), index === 7 ? long : ANSWER)));
    await Promise.all(calls.map((call) => answers.keep(rowIdOf(call), { ...ANSWER, status: 201 })));
    const found = await Promise.all(calls.map(find));
    expect(found.map((row) => row?.answer)).to.deep.equal(
      calls.map((_, index) => (index === 7 ? long : ANSWER)),
    );
  });

  it('are found without waiting for long answers of others', async () => {
    const who = await createSpender(em(), 100);
    const [long, short] = [newCall(who, 'long'), newCall(who, 'short')];
    await reserve([long, short]);
    const body = 'x'.repeat(8_000_000);
    await answers.keep(rowIdOf(long), { ...ANSWER, body });
    const first = find(short);
    const order: string[] = [];
    const found = Array.from({ length: 5 }, () => find(long).finally(() => order.push('long')));
    const beside = find(short).finally(() => order.push('short'));
    await Promise.all([first, beside, ...found]);
    expect(order[0]).to.equal('short');
    expect((await found[0])?.answer).to.deep.equal({ ...ANSWER, body });
  });

  it('are claimed by two processes in opposite orders, neither waiting for the other forever', async () => {
    const who = await createSpender(em(), 1_000);
    const second = openDatabase({ url: stored.url, connectionsMax: 2 });
    try {
      for (let round = 0; round < 20; round += 1) {
        const keys = Array.from({ length: 20 }, (_, index) => `round ${round}, ${index}`);
        const [mine, theirs] = await Promise.all([
          reserve(keys.map((key) => newCall(who, key))),
          reserve(
            keys.toReversed().map((key) => newCall(who, key)),
            forkEm(second),
          ),
        ]);
        const other = { reserved: 'key_taken', key_taken: 'reserved', refused: 'never' };
        expect(theirs.toReversed().map(({ kind }) => kind)).to.deep.equal(
          mine.map(({ kind }) => other[kind]),
        );
      }
    } finally {
      await second.close();
    }
  });

  it('are found, answered and freed by reading their own rows, also by plans of a table that was nearly empty', async () => {
    const fresh = await createDatabase(1);
    try {
      const own = (): Em => forkEm(fresh.database);
      const kept = openAnswers(fresh.database);
      const who = await createSpender(own(), 1_000);
      const [first, ...others] = Array.from({ length: 300 }, (_, index) => newCall(who, `own ${index}`));
      if (!first) throw new Error('there is no first call');
      await reserve([first], own());
      await own().execute('analyze idempotency_key');
      await kept.keep(rowIdOf(first), ANSWER);
      await kept.find(requestOf(first));
      await reserve([newCall(who, 'own 0'), newCall(who, 'dear', 2_000)], own());
      await reserve(others, own());
      const before = await countRead(own());
      await kept.find(requestOf(first));
      await kept.keep(rowIdOf(others[0]), ANSWER);
      const verdicts = await reserve([newCall(who, 'own 0'), newCall(who, 'dear', 2_000)], own());
      expect(verdicts.map(({ kind }) => kind)).to.deep.equal(['key_taken', 'refused']);
      expect((await countRead(own())) - before).to.be.at.most(6);
    } finally {
      await fresh.drop();
    }
  });

  function openAnswers(database: Database): KeptAnswers {
    return openKeptAnswers(database, secrets, createChatCalls(database, LEASE_SECONDS).keepAnswer);
  }

  function newCall(
    who: Spender,
    key: string | null,
    credits = 1,
    undoneId: string | null = null,
  ): NewChatCall {
    const target = { userId: who.userId, method: 'POST', path: '/v1/chat/completions' };
    const request = key === null ? null : identifyRequest(target, key, 'content');
    const amount = CREDIT * BigInt(credits);
    const claim = request && { request, rowId: makeId('idm'), undoneId };
    const about = { model: 'gpt', stream: false, requestId: 'r', amount, amountMax: amount, claim };
    return { id: makeId('call'), ...who, ...about };
  }

  async function reserve(calls: readonly NewChatCall[], by = em()): Promise<ChatCallVerdict[]> {
    const moves = calls.map((call) => ({ kind: 'reservation', call }) as const);
    const verdicts = await moveAll(by, moves, LEASE_SECONDS);
    return verdicts.flatMap((verdict) => (verdict === null || typeof verdict === 'bigint' ? [] : [verdict]));
  }

  function find(call: NewChatCall): ReturnType<KeptAnswers['find']> {
    return answers.find(requestOf(call));
  }

  async function reservedOf({ userId }: Spender): Promise<bigint> {
    const [row] = await em().execute<{ reserved: string }[]>(
      'select reserved from account where user_id = ?',
      [userId],
    );
    return BigInt(row?.reserved ?? -1);
  }

  /** Rows of keys that all connections have read. */
  async function countRead(by: Em): Promise<number> {
    await by.execute('select pg_stat_force_next_flush()');
    const [read] = await by.execute<{ rows: number }[]>(
      `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_user_tables where relname = 'idempotency_key'`,
    );
    return read?.rows ?? 0;
  }
});

function requestOf({ claim }: NewChatCall) {
  if (!claim) throw new Error('the call has no key');
  return claim.request;
}

function rowIdOf(call: NewChatCall | undefined): string {
  if (!call?.claim) throw new Error('the call has no key');
  return call.claim.rowId;
}
