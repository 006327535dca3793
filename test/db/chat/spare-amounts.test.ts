// How much a chat call reserves of an account with much to spare, beside other calls.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import type { NewChatCall } from '../../../db/chat/calls.ts';
import { createChatCalls, type ChatCalls } from '../../../db/chat/chat-ledger.ts';
import { moveAll } from '../../../db/chat/chat-moves.ts';
import { forkEm, type Em } from '../../../db/database.ts';
import { makeId } from '../../../db/ids.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { addKey, createSpender, type Spender } from '../../support/ledger/spender.ts';
import { createDatabase } from '../../support/servers/database.ts';

const CREDIT = parseCredits(1);
const ABOUT = { model: 'gpt', stream: false, requestId: 'r' };

describe('a chat call of an account with much to spare', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  let calls: ChatCalls;
  const em = (): Em => forkEm(stored.database);

  before(async () => {
    stored = await createDatabase();
    calls = createChatCalls(stored.database, 60);
  });
  afterEach(async () => expect(await findViolations(em())).to.deep.equal([]));
  after(() => stored.drop());

  const wide = (who: Spender, credits: number, most: number): NewChatCall => ({
    ...{ ...ABOUT, ...who, id: makeId('call'), amount: CREDIT * BigInt(credits) },
    amountMax: CREDIT * BigInt(most),
    claim: null,
  });
  const amountsOf = async (inputs: readonly NewChatCall[]): Promise<(number | string)[]> => {
    const verdicts = await Promise.all(inputs.map((input) => calls.reserve(input)));
    return verdicts.map((each) =>
      each.kind === 'reserved' ? Number(each.amount) / 1e6 : 'reason' in each ? each.reason : each.kind,
    );
  };

  it('reserves all that an answer can cost while that is a quarter of half of the credits', async () => {
    const who = await createSpender(em(), 1000);
    expect(await amountsOf([wide(who, 1, 125)])).to.deep.equal([125]);
    expect(await account(who)).to.deep.equal({ balance: '1000000000', reserved: '125000000' });
  });

  it('reserves less and less, and its least when half of the credits is taken', async () => {
    const who = await createSpender(em(), 1000);
    const amounts = await amountsOf(Array.from({ length: 40 }, () => wide(who, 8, 400)));
    expect(amounts.slice(0, 3)).to.deep.equal([125, 93.75, 70.3125]);
    expect(amounts.at(-1)).to.equal(8);
    expect(amounts).not.to.include('insufficient_credits');
  });

  it('reserves its least of few credits, and is refused when that is not there', async () => {
    const who = await createSpender(em(), 10);
    expect(await amountsOf([wide(who, 4, 400), wide(who, 4, 400), wide(who, 4, 400)])).to.deep.equal([
      ...[4, 4, 'insufficient_credits'],
    ]);
  });

  it('leaves as much of a key’s quota and daily budget', async () => {
    for (const column of ['quota', 'daily_budget']) {
      const who = await createSpender(em(), 1000);
      await em().execute(`update key_spending set ${column} = 100000000 where key_id = ?`, [who.keyId]);
      expect(await amountsOf([wide(who, 1, 400), wide(who, 1, 400)]), column).to.deep.equal([12.5, 9.375]);
    }
  });

  it('chooses in the order in which it decides, also for two keys of one account', async () => {
    const who = await createSpender(em(), 100);
    const keys = await Promise.all([1, 2].map(() => addKey(em(), who.userId)));
    const [low = '', high = ''] = keys.sort();
    const inputs = [wide({ ...who, keyId: high }, 95, 95), wide({ ...who, keyId: low }, 1, 12)];
    const moves = inputs.map((call) => ({ kind: 'reservation', call }) as const);
    const verdicts = await moveAll(em(), moves, 60);
    expect(verdicts).to.deep.equal(
      [95n, 1n].map((credits) => ({ kind: 'reserved', amount: credits * CREDIT })),
    );
  });

  it('decides for one account beside others in the same statement', async () => {
    const [rich, poor] = [await createSpender(em(), 100_000), await createSpender(em(), 100)];
    const inputs = [wide(rich, 1, 100), wide(poor, 1, 100), wide(rich, 1, 100), wide(poor, 200, 300)];
    expect(await amountsOf(inputs)).to.deep.equal([100, 12.5, 100, 'insufficient_credits']);
  });

  async function account({ userId }: Spender): Promise<unknown> {
    const [row] = await em().execute<object[]>(
      sql`select balance, reserved from account where user_id = ${userId}`,
    );
    return row;
  }
});
