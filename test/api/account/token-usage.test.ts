// GET /api/usage/token: what a key tells its holder, in every state of its limits and of its account.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { makeKeyText } from '../../../db/keys/key-texts.ts';
import { refundOnce } from '../../support/credits.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { IMAGE_MODEL } from '../../support/tasks.ts';
import { untilFinal, untilStatus } from '../../support/until.ts';

const PATH = '/api/usage/token';
const DAY_SECONDS = 86_400;

describe('GET /api/usage/token', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const usageOf = async (user: TestUser) => {
    const { status, body } = await user.key.get(PATH);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.have.all.keys('code', 'message', 'data');
    expect(body).to.include({ code: true, message: 'ok' });
    return body.data;
  };
  const createUser = async (limits: object, credits = 1000): Promise<TestUser> => {
    const user = await gateway.createUser(credits);
    await user.verify();
    await user.session.patch(`/api/keys/${user.keyId}`, limits);
    return user;
  };
  const order = async (user: TestUser, directive: string, n = 1): Promise<string> => {
    const body = { model: IMAGE_MODEL, prompt: `[[sandbox ${directive}]]`, n };
    return (await user.key.post('/v1/images/generations', body)).body.id;
  };
  const ended = async (user: TestUser, directive: string, n = 1): Promise<string> => {
    const id = await order(user, directive, n);
    await untilFinal(user.session, id);
    return id;
  };

  it('of a key without limits: its own use against the account’s balance', async () => {
    const user = await gateway.createUser(1000.25);
    const fresh = {
      object: 'token_usage',
      name: 'Test key',
      total_granted: 1000.25,
      total_used: 0,
      total_available: 1000.25,
      unlimited_quota: true,
      model_limits: {},
      model_limits_enabled: false,
      expires_at: 0,
      daily_budget: null,
      daily_used: null,
      daily_remaining: null,
      daily_reset_at: null,
      account_available: 1000.25,
      currency: 'credits',
    };
    expect(await usageOf(user)).to.deep.equal(fresh);
    await ended(user, 'seconds=0');
    const spent = { total_used: 4, total_available: 996.25, account_available: 996.25 };
    expect(await usageOf(user)).to.deep.equal({ ...fresh, ...spent });
    const console = { mode: 'image', model: IMAGE_MODEL, prompt: '[[sandbox seconds=0]]' };
    await untilFinal(user.session, (await user.session.post('/api/tasks', console)).body.data.id);
    const others = { total_granted: 996.25, total_available: 992.25, account_available: 992.25 };
    expect(await usageOf(user)).to.deep.equal({ ...fresh, ...spent, ...others });
  });

  it('of a key with every limit', async () => {
    const expiresAt = '2099-01-31T12:00:00.900+01:00';
    const limits = {
      quota: 20,
      dailyBudget: 10.5,
      modelScope: ['gpt-image-2', 'grok-imagine-video'],
      expiresAt,
    };
    const user = await createUser({ name: 'Limited', ...limits });
    await ended(user, 'seconds=0');
    const usage = await usageOf(user);
    const { daily_reset_at, ...rest } = usage;
    expect(rest).to.deep.equal({
      object: 'token_usage',
      name: 'Limited',
      total_granted: 20,
      total_used: 4,
      total_available: 16,
      unlimited_quota: false,
      model_limits: { 'gpt-image-2': true, 'grok-imagine-video': true },
      model_limits_enabled: true,
      expires_at: Date.UTC(2099, 0, 31, 11) / 1000,
      daily_budget: 10.5,
      daily_used: 4,
      daily_remaining: 6.5,
      account_available: 996,
      currency: 'credits',
    });
    expect(daily_reset_at % DAY_SECONDS).to.equal(0);
    expect(daily_reset_at - Date.now() / 1000).to.be.within(-5, DAY_SECONDS);
  });

  it('used, remaining and set aside make the total, whatever becomes of the tasks', async () => {
    const user = await createUser({ quota: 100, dailyBudget: 50 });
    const figures = async () => {
      const { total_granted, total_used, total_available, daily_used, daily_remaining } = await usageOf(user);
      const [row] = await gateway.em().execute<{ reserved: string }[]>(sql`
        select reserved / 1000000 as reserved from key_spending where key_id = ${user.keyId}`);
      const reserved = Number(row?.reserved);
      expect(total_used + total_available + reserved, 'total')
        .to.equal(total_granted)
        .and.to.equal(100);
      expect(daily_used + daily_remaining, 'day').to.equal(50);
      return { used: total_used, available: total_available, today: daily_used };
    };
    expect(await figures()).to.deep.equal({ used: 0, available: 100, today: 0 });
    await ended(user, 'seconds=0 outcome=fail', 2);
    expect(await figures(), 'failed').to.deep.equal({ used: 0, available: 100, today: 0 });
    await ended(user, 'seconds=0 deliver=1', 3);
    expect(await figures(), 'delivered in part').to.deep.equal({ used: 4, available: 96, today: 4 });
    const stuck = await order(user, 'outcome=stuck', 5);
    await untilStatus(user.session, stuck, 'in_progress');
    expect(await figures(), 'running').to.deep.equal({ used: 4, available: 76, today: 24 });
    const done = await ended(user, 'seconds=0');
    expect(await figures(), 'another').to.deep.equal({ used: 8, available: 72, today: 28 });
    await user.session.delete(`/api/tasks/${stuck}`);
    expect(await figures(), 'cancelled').to.deep.equal({ used: 8, available: 92, today: 8 });
    const input = { taskId: done, attempt: 1, amount: 1_000_000n, description: 'Sorry' };
    await refundOnce(gateway.em(), { ...input, idempotencyKey: `sorry:${done}` });
    expect(await figures(), 'refunded').to.deep.equal({ used: 7, available: 93, today: 7 });
  });

  it('never shows less than nothing after a limit was lowered', async () => {
    const user = await createUser({ quota: 100, dailyBudget: 100 });
    await ended(user, 'seconds=0', 2);
    await user.verify();
    await user.session.patch(`/api/keys/${user.keyId}`, { quota: 5, dailyBudget: 0 });
    expect(await usageOf(user)).to.include({
      ...{ total_granted: 5, total_used: 8, total_available: 0 },
      ...{ daily_budget: 0, daily_used: 8, daily_remaining: 0 },
    });
  });

  it('tells what the account has, even where the quota promises more', async () => {
    const user = await createUser({ quota: 1000 }, 3);
    expect(await usageOf(user)).to.include({ total_available: 1000, account_available: 3 });
  });

  it('shows every key its own figures', async () => {
    const user = await createUser({ quota: 8 });
    await user.verify();
    const { key } = (await user.session.post('/api/keys', { name: 'Second', quota: 12 })).body.data;
    await ended(user, 'seconds=0');
    const second = await gateway.anonymous.get(PATH, { authorization: `Bearer ${key}` });
    expect(second.body.data).to.include({
      name: 'Second',
      total_granted: 12,
      total_used: 0,
      total_available: 12,
    });
    expect(await usageOf(user)).to.include({ total_granted: 8, total_used: 4, total_available: 4 });
    expect(await usageOf(await gateway.createUser(1))).to.include({ total_used: 0, account_available: 1 });
  });

  describe('is for bearer keys alone', () => {
    let user: TestUser;
    before(async () => {
      user = await gateway.createUser(1);
    });

    it('401 missing_api_key without one, even with a session', async () => {
      for (const actor of [gateway.anonymous, user.session]) {
        const answer = await actor.get(PATH);
        expectError(answer, 401, 'missing_api_key', null);
        expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
      }
      expectError(
        await gateway.anonymous.get(`${PATH}?api_key=${user.apiKey}`),
        401,
        'missing_api_key',
        null,
      );
    });

    const bad: [title: string, authorization: (key: string) => string][] = [
      ['a scheme alone', () => 'Bearer'],
      ['two keys', (key) => `Bearer ${key} ${key}`],
      ['another scheme', (key) => `Basic ${key}`],
      ['a foreign form', () => 'Bearer sk-live_abc'],
      ['a prefix in capitals', (key) => `Bearer ${key.replace('sk-svc_', 'SK-SVC_')}`],
      ['a wrong checksum', (key) => `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`],
      ['an unknown key', () => `Bearer ${makeKeyText()}`],
    ];
    for (const [title, authorization] of bad)
      it(`401 invalid_api_key with ${title}`, async () => {
        const answer = await gateway.anonymous.get(PATH, { authorization: authorization(user.apiKey) });
        expectError(answer, 401, 'invalid_api_key', null);
        expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
      });

    it('answers a scheme in any case, and HEAD', async () => {
      const headers = { authorization: `bEARER ${user.apiKey}` };
      expect((await gateway.anonymous.get(PATH, headers)).status).to.equal(200);
      expect((await gateway.anonymous.send('HEAD', PATH, { headers })).status).to.equal(200);
    });

    it('405 with Allow for another method', async () => {
      const answer = await user.key.post(PATH, {});
      expectError(answer, 405, 'method_not_allowed');
      expect(answer.headers.get('allow')).to.equal('GET, HEAD');
    });
  });
});
