// GET /v1/balance: the account behind the key, and its ledger.
import { expect } from 'chai';
import { grantOnce } from '../../support/credits.ts';
import { parseCredits } from '../../../domain/credits.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { until, untilFinal } from '../../support/until.ts';

const PATH = '/v1/balance';

describe('GET /v1/balance', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(100.5);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const read = async (query = '', user = owner) => (await user.key.get(PATH + query)).body.data;
  const generate = async (user: TestUser, directive = '') => {
    const prompt = `[[sandbox seconds=0 ${directive}]]`;
    const { body } = await user.key.post('/v1/images/generations', { model: 'gpt-image-2', prompt });
    await untilFinal(user.session, body.id);
    return body.id;
  };

  it('shows the balance in credits and in dollars', async () => {
    const data = await read();
    expect(data).to.deep.equal({
      object: 'balance',
      currency: 'credits',
      creditsPerUsd: 200,
      balance: 100.5,
      reserved: 0,
      available: 100.5,
      totalGranted: 100.5,
      totalCharged: 0,
      balanceUsd: 0.5025,
      updatedAt: data.updatedAt,
    });
    expect(new Date(data.updatedAt).toISOString()).to.equal(data.updatedAt);
  });

  it('shows what is set aside while a task runs, and all of it again after a failure', async () => {
    const before = await read();
    const order = { model: 'gpt-image-2', prompt: '[[sandbox outcome=stuck]]', n: 2 };
    const { body } = await owner.key.post('/v1/images/generations', order);
    expect(await read()).to.include({ balance: before.balance, reserved: 8, available: before.balance - 8 });
    await owner.session.delete(`/api/tasks/${body.id}`);
    await generate(owner, 'outcome=fail');
    const { updatedAt: _before, ...figures } = before;
    expect(await read()).to.include(figures);
  });

  it('counts a charge once, in balance, totalCharged and ledger', async () => {
    const before = await read();
    const taskId = await generate(owner);
    const after = await read('?includeLedger=1');
    expect(after.balance).to.equal(before.balance - 4);
    expect(after.totalCharged).to.equal(before.totalCharged + 4);
    expect(after.totalGranted).to.equal(before.totalGranted);
    const [newest] = after.ledger;
    expect(newest).to.deep.equal({
      id: newest.id,
      type: 'charge',
      amount: -4,
      balanceAfter: after.balance,
      taskId,
      requestId: newest.requestId,
      keyId: owner.keyId,
      model: 'gpt-image-2',
      description: newest.description,
      createdAt: newest.createdAt,
    });
    expect(newest.id).to.match(/^led_[0-9A-Z]{26}$/);
    expect(newest.requestId).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const entries = after.ledger.filter((entry: { taskId: string | null }) => entry.taskId === taskId);
    expect(entries).to.have.length(1);
  });

  it('pages through the ledger, newest first, without gap or repetition', async () => {
    const user = await gateway.createUser(40);
    for (let count = 0; count < 4; count += 1) await generate(user);
    const all = await read('?includeLedger=1', user);
    expect(all).to.include({ ledgerHasMore: false, ledgerNextCursor: null });
    expect(all.ledger.map(({ type }: { type: string }) => type)).to.deep.equal([
      ...Array(4).fill('charge'),
      'grant',
    ]);
    expect(all.ledger.map((entry: { balanceAfter: number }) => entry.balanceAfter)).to.deep.equal([
      24, 28, 32, 36, 40,
    ]);
    const pages = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await read(`?includeLedger=1&limit=2${cursor && `&cursor=${cursor}`}`, user);
      expect(page.ledger).to.have.length.at.most(2);
      expect(page.ledgerHasMore).to.equal(page.ledgerNextCursor !== null);
      pages.push(...page.ledger);
      cursor = page.ledgerNextCursor;
    }
    expect(pages).to.deep.equal(all.ledger);
  });

  it('shows balance and ledger of one moment, although a grant comes between reading them', async () => {
    const user = await gateway.createUser(40);
    const reading = await gateway.em().transactional(async (tx) => {
      await tx.execute('lock table ledger_transfer in access exclusive mode');
      const data = read('?includeLedger=1', user);
      await until('the ledger is being read, after the balance', async () => {
        const waiting = await gateway.em().execute(`
          select 1 from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%from "ledger_transfer"%' and datname = current_database()`);
        return waiting.length > 0;
      });
      const move = { userId: user.id, amount: parseCredits(2), idempotencyKey: `grant:${user.id}:2` };
      await grantOnce(tx, { ...move, description: 'Meanwhile' });
      return { data };
    });
    const { balance, ledger } = await reading.data;
    expect(ledger[0].balanceAfter).to.equal(balance);
    expect((await read('?includeLedger=1', user)).ledger[0]).to.include({ amount: 2, balanceAfter: 42 });
  });

  for (const query of ['', '?includeLedger=0', '?[a]=1', '?includeLedger[a]=1', '?x=1'])
    it(`leaves the ledger out for "${query}"`, async () => {
      const { status, body } = await owner.key.get(PATH + query);
      expect(status).to.equal(200);
      expect(body.data).not.to.have.any.keys('ledger', 'ledgerHasMore', 'ledgerNextCursor');
    });

  const refusals: [query: string, param: string][] = [
    ['includeLedger=true', 'includeLedger'],
    ['includeLedger=yes', 'includeLedger'],
    ['includeLedger=', 'includeLedger'],
    ['includeLedger=2', 'includeLedger'],
    ['includeLedger=1&includeLedger=0', 'includeLedger'],
    ['includeLedger=1&limit=0', 'limit'],
    ['includeLedger=1&limit=201', 'limit'],
    ['includeLedger=1&limit=-1', 'limit'],
    ['includeLedger=1&limit=1e2', 'limit'],
    ['includeLedger=1&limit=', 'limit'],
    ['includeLedger=1&cursor=x', 'cursor'],
    ['includeLedger=1&cursor=', 'cursor'],
    ['includeLedger=1&cursor=99999999999999999999999', 'cursor'],
    ["includeLedger=1&cursor=1'--", 'cursor'],
  ];
  for (const [query, param] of refusals)
    it(`refuses ${query}: 400`, async () => {
      expectError(await owner.key.get(`${PATH}?${query}`), 400, 'invalid_value', param);
    });

  it('shows a user nothing but their own', async () => {
    const other = await gateway.createUser(7);
    const data = await read('?includeLedger=1', other);
    expect(data).to.include({ balance: 7, totalGranted: 7, totalCharged: 0 });
    expect(data.ledger).to.have.length(1);
    expect(data.ledger[0]).to.include({ type: 'grant', amount: 7, balanceAfter: 7, taskId: null });
    const cursor = Number.MAX_SAFE_INTEGER;
    const { ledger } = await read(`?includeLedger=1&cursor=${cursor}`, other);
    expect(ledger).to.deep.equal(data.ledger);
  });
});
