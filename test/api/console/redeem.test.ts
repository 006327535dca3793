// Redeeming codes: what is accepted, what is refused, and where a code is never found.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { redeem as redeemInDatabase } from '../../../db/redeem/redemptions.ts';
import { Secrets } from '../../../db/secrets.ts';
import { createAdministrator, makeCode, readAudit } from '../../support/administrators.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const REDEEM = '/api/redeem';
const UNKNOWN = 'SVC-000000-000000-000000-000000';

describe('POST /api/redeem', () => {
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
  async function balanceOf(user: TestUser): Promise<number> {
    return (await user.session.get('/api/balance')).body.data.balance;
  }

  describe('a good code', () => {
    it('adds its credits and says what there is now', async () => {
      const { code, id } = await makeCode(chief, { credits: 12.5 });
      const { status, body } = await redeem(code);
      expect(status).to.equal(200);
      const { redeemedAt, ledgerEntryId } = body.data;
      expect(body.data).to.deep.equal({
        credits: 12.5,
        balance: 17.5,
        available: 17.5,
        redeemedAt,
        ledgerEntryId,
      });
      expect(Date.now() - Date.parse(redeemedAt)).to.be.within(-1_000, 10_000);
      expect(ledgerEntryId).to.match(/^led_[0-9A-Z]{26}$/);
      const balance = (await owner.session.get('/api/balance?includeLedger=1')).body.data;
      expect(balance).to.include({ balance: 17.5, totalGranted: 17.5 });
      expect(balance.ledger[0]).to.include({ id: ledgerEntryId, type: 'redeem', amount: 12.5 });
      expect(await readCode(id)).to.include({ usedCount: 1, status: 'exhausted' });
    });

    it('is read however people write it', async () => {
      const variants: ((code: string) => string)[] = [
        (code) => code.toLowerCase(),
        (code) => `  ${code}\n`,
        (code) => code.replaceAll('-', ''),
        (code) => code.replaceAll('-', ' '),
        (code) => code.replaceAll('-', ' – '),
        (code) => code.slice('SVC-'.length),
        (code) => code.replaceAll('0', 'O').replaceAll('1', 'l'),
        (code) => code.replaceAll('0', 'o').replaceAll('1', 'I'),
      ];
      const { code, id } = await makeCode(chief, { maxUses: 50 });
      for (const write of variants) {
        const { status, body } = await redeem(write(code));
        expect(status, JSON.stringify(body)).to.equal(200);
      }
      expect(await readCode(id)).to.include({ usedCount: variants.length });
    });

    it('is found after the key ring got a newer key', async () => {
      const { code } = await makeCode(chief);
      const newer = { id: 'newer', bytes: Buffer.alloc(32, 7) };
      const usual = gateway.services.secrets;
      gateway.services.secrets = new Secrets([newer, ...gateway.config.keyRing]);
      try {
        expect((await redeem(code)).status).to.equal(200);
      } finally {
        gateway.services.secrets = usual;
      }
    });
  });

  describe('refuses', () => {
    it('what is no code in the body', async () => {
      for (const body of [{}, { code: 5 }, { code: ['x'] }, { code: null }, { code: '' }])
        expectError(
          await owner.session.post(REDEEM, body),
          400,
          'code' in body ? 'invalid_value' : 'missing_field',
          'code',
        );
      expectError(await redeem('A'.repeat(10_240)), 400, 'invalid_value', 'code');
      expectError(
        await owner.session.post(REDEEM, { code: UNKNOWN, userId: chief.id }),
        400,
        'invalid_request',
        'userId',
      );
      expectError(await gateway.anonymous.post(REDEEM, { code: UNKNOWN }), 401, 'not_authenticated');
    });

    it('whatever is unknown, in one wording', async () => {
      const { code } = await makeCode(chief);
      const changed = code.slice(0, -1) + (code.endsWith('0') ? '1' : '0');
      const answers = [];
      for (const text of [UNKNOWN, changed, 'hello', '💸', `${code}0`, 'U'.repeat(24)])
        answers.push(await redeem(text));
      for (const answer of answers) {
        expectError(answer, 404, 'redeem_code_not_found', null);
        expect(answer.body.error.message).to.equal(answers[0]?.body.error.message);
      }
      expect(await balanceOf(owner)).to.equal(5);
    });

    it('a disabled code', async () => {
      const { code, id } = await makeCode(chief, { maxUses: 5 });
      await redeem(code);
      await chief.session.patch(`/api/admin/redeem-codes/${id}`);
      const answer = await redeem(code);
      expectError(answer, 409, 'redeem_code_disabled');
      expect(answer.headers.get('x-should-retry')).to.equal('false');
      expect(await readCode(id)).to.include({ usedCount: 1 });
    });

    it('an expired code, by the clock of the database', async () => {
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const { code, id } = await makeCode(chief, { expiresAt });
      await gateway.em().execute(sql`update redeem_code set expires_at = now() where id = ${id}`);
      expectError(await redeem(code), 409, 'redeem_code_expired');
      expect((await readCode(id)).status).to.equal('expired');
    });

    it('a code that is used up, and one that this user has used often enough', async () => {
      const once = await makeCode(chief);
      await redeem(once.code);
      expectError(await redeem(once.code), 409, 'redeem_code_exhausted');
      const limited = await makeCode(chief, { maxUses: 3, perUserLimit: 2 });
      await redeem(limited.code);
      await redeem(limited.code);
      expectError(await redeem(limited.code), 409, 'redeem_limit_reached');
      expect((await redeem(limited.code, await gateway.createUser(0))).status).to.equal(200);
    });

    it('what would take the balance beyond what can be shown exactly', async () => {
      const { code, id } = await makeCode(chief, { credits: 10_000_000 });
      const rich = await gateway.createUser(8_999_999_999);
      expectError(await redeem(code, rich), 409, 'balance_limit');
      expect(await readCode(id)).to.include({ usedCount: 0 });
    });
  });

  it('claims nothing when the grant fails', async () => {
    const { code, id } = await makeCode(chief);
    const { id: userId } = await gateway.createUser(0);
    await gateway.em().execute(sql`delete from account where user_id = ${userId}`);
    const input = { userId, code, requestId: 'none' };
    const failure = await redeemInDatabase(gateway.em(), gateway.secrets, input).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(Error);
    expect(await readCode(id)).to.deep.include({ usedCount: 0, redemptions: [] });
    expect((await redeem(code)).status).to.equal(200);
  });

  it('leaves the code in no log line, column or list', async () => {
    const { code, id } = await makeCode(chief, { maxUses: 2, label: 'Secret of the house' });
    await redeem(code);
    await redeem(code.toLowerCase());
    await redeem(code);
    await chief.session.patch(`/api/admin/redeem-codes/${id}`);
    await redeem(code);
    const bare = code.slice('SVC-'.length).replaceAll('-', '');
    const groups = code.split('-').slice(1, 4);
    const traces = [...(await readWholeDatabase(gateway))].map(([place, text]) => ({ place, text }));
    traces.push({ place: 'log', text: gateway.logged() });
    const list = await chief.session.get('/api/admin/redeem-codes?limit=100');
    traces.push({ place: 'list', text: JSON.stringify(list.body) });
    for (const { place, text } of traces)
      for (const secret of [code, bare, ...groups])
        expect(text.toUpperCase().includes(secret), `${secret} in ${place}`).to.equal(false);
    expect(JSON.stringify(await readAudit(gateway, id))).to.contain('Secret of the house');
  });

  it('limits wrong codes per user, and right ones are not counted', async () => {
    const { code } = await makeCode(chief, { maxUses: 5 });
    for (let count = 0; count < 5; count += 1) expect((await redeem(code)).status).to.equal(200);
    const answers = [];
    for (let count = 0; count < 12; count += 1) answers.push(await redeem(UNKNOWN));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).to.deep.equal([...Array.from({ length: 10 }, () => 404), 429, 429]);
    const refused = answers.at(-1);
    expect(refused?.body.error.code).to.equal('rate_limited');
    expect(Number(refused?.headers.get('retry-after'))).to.be.at.least(1);
    expect(refused?.headers.get('x-ratelimit-backend')).to.equal('memory');
  });
});
