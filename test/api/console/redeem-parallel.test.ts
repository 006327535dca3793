// Redeeming codes at once: parallel redemptions never pay out once too often.
import { expect } from 'chai';
import { createAdministrator, makeCode } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const REDEEM = '/api/redeem';

describe('POST /api/redeem in parallel', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(5);
  });
  afterEach(() => gateway.expectSoundMoney());

  const redeem = (code: unknown, user = owner): Promise<Answer> => user.session.post(REDEEM, { code });
  const readCode = async (id: string) => (await chief.session.get(`/api/admin/redeem-codes/${id}`)).body.data;
  const users = (count: number) => Promise.all(Array.from({ length: count }, () => gateway.createUser(0)));
  const countOk = (answers: Answer[]) => answers.filter(({ status }) => status === 200).length;
  const codesOf = (answers: Answer[]) => [
    ...new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.error.code)),
  ];
  async function balanceOf(user: TestUser): Promise<number> {
    return (await user.session.get('/api/balance')).body.data.balance;
  }

  it('pays a code with one use out once, to one of 50 users', async () => {
    const { code, id } = await makeCode(chief);
    const crowd = await users(50);
    const answers = await Promise.all(crowd.map((user) => redeem(code, user)));
    expect(countOk(answers)).to.equal(1);
    expect(codesOf(answers)).to.deep.equal(['redeem_code_exhausted']);
    const { usedCount, redemptions } = await readCode(id);
    expect({ usedCount, redemptions: redemptions.length }).to.deep.equal({ usedCount: 1, redemptions: 1 });
  });

  it('pays ten uses out ten times', async () => {
    const { code, id } = await makeCode(chief, { maxUses: 10, credits: 3 });
    const crowd = await users(50);
    const answers = await Promise.all(crowd.map((user) => redeem(code, user)));
    expect(countOk(answers)).to.equal(10);
    const balances = await Promise.all(crowd.map(balanceOf));
    expect(balances.reduce((sum, balance) => sum + balance, 0)).to.equal(30);
    expect(await readCode(id)).to.include({ usedCount: 10 });
  });

  it('counts the uses of one user who sends it 50 times', async () => {
    const { code, id } = await makeCode(chief, { maxUses: 50, perUserLimit: 1 });
    // More than ten at once would be refused for too many wrong answers: each attempt takes a point first.
    const wave = () => Promise.all(Array.from({ length: 10 }, () => redeem(code)));
    const answers = [
      ...(await wave()),
      ...(await wave()),
      ...(await wave()),
      ...(await wave()),
      ...(await wave()),
    ];
    expect(countOk(answers)).to.equal(1);
    expect(codesOf(answers)).to.deep.equal(['redeem_limit_reached']);
    expect(await readCode(id)).to.include({ usedCount: 1 });
    expect(await balanceOf(owner)).to.equal(15);
  });

  it('refuses every redemption that began after disabling was answered', async () => {
    const { code, id } = await makeCode(chief, { maxUses: 200 });
    const crowd = await users(25);
    const early = crowd.map((user) => redeem(code, user));
    const { status } = await chief.session.patch(`/api/admin/redeem-codes/${id}`);
    const late = await Promise.all(crowd.map((user) => redeem(code, user)));
    expect(status).to.equal(200);
    for (const answer of late) expectError(answer, 409, 'redeem_code_disabled');
    expect(await readCode(id)).to.include({ usedCount: countOk(await Promise.all(early)) });
  });
});
