// Step-up by /api/verify: a fresh proof, by password or code, for one session and ten minutes.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import {
  enrolUser,
  expectLimited,
  forgetGuesses,
  forgetUsedCodes,
  isAlive,
  openBrowser,
  openBrowserWith,
  type Browser,
} from '../../support/http/browser.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Actor, Answer } from '../../support/http/http.ts';

const VERIFY = '/api/verify';
/** A route that needs step-up and changes nothing for a user without a second factor. */
const GUARDED = '/api/auth/totp';

describe('/api/verify', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let browser: Browser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_LIMIT_AUTH: '20/1200' } });
  });
  beforeEach(async () => {
    forgetGuesses(gateway);
    owner = await gateway.createUser(0);
    browser = await openBrowser(gateway, owner);
  });
  after(() => gateway.stop());

  const withPassword = (who: Actor = browser, code = owner.password): Promise<Answer> =>
    who.post(VERIFY, { method: 'password', code });
  const guess = (who: Actor = browser): Promise<Answer> => withPassword(who, 'wrong');
  const withCode = (who: Actor, code: string | undefined): Promise<Answer> =>
    who.post(VERIFY, { method: 'totp', code });
  const readState = async (who: Actor = browser) => (await who.get(VERIFY)).body.data;

  describe('with a password', () => {
    it('verifies the session for ten minutes', async () => {
      expect(await readState()).to.deep.equal({
        verified: false,
        method: null,
        verifiedAt: null,
        expiresAt: null,
        methods: ['password'],
      });
      expectError(await browser.delete(GUARDED), 403, 'verification_required');
      const answer = await withPassword();
      expect(answer.status).to.equal(200);
      const { data } = answer.body;
      expect(data).to.have.all.keys('verified', 'method', 'verifiedAt', 'expiresAt');
      expect(data).to.include({ verified: true, method: 'password' });
      expect(Date.parse(data.expiresAt) - Date.parse(data.verifiedAt)).to.equal(600_000);
      expect(Date.parse(data.verifiedAt)).to.be.closeTo(Date.now(), 5_000);
      expect(await readState()).to.deep.equal({ ...data, methods: ['password'] });
      expect((await browser.delete(GUARDED)).status).to.equal(204);
    });

    it('gives the session a new token; the old one is dead at once', async () => {
      const old = browser.token();
      await withPassword();
      expect(browser.token()).not.to.equal(old);
      expect([await isAlive(gateway, old), await isAlive(gateway, browser.token())]).to.deep.equal([
        false,
        true,
      ]);
      const [row] = await gateway.em().execute<{ sessions: number }[]>(sql`
        select count(*)::int as sessions from session where user_id = ${owner.id}`);
      expect(row?.sessions, 'the one from the start, and this one').to.equal(2);
    });

    it('verifies this session only', async () => {
      const other = await openBrowser(gateway, owner);
      await withPassword();
      expect((await readState(other)).verified).to.equal(false);
      expectError(await other.delete(GUARDED), 403, 'verification_required');
    });

    it('is over after its ten minutes', async () => {
      await withPassword();
      await gateway.em().execute(sql`
        update session set verified_until = now() - interval '1 second' where user_id = ${owner.id} and verified_at is not null`);
      const over = { verified: false, method: null, verifiedAt: null, expiresAt: null };
      expect(await readState()).to.include(over);
      expectError(await browser.delete(GUARDED), 403, 'verification_required');
      expect((await withPassword()).status).to.equal(200);
      expect((await browser.delete(GUARDED)).status).to.equal(204);
    });

    it('verifies once when one cookie is used in parallel', async () => {
      const copies = Array.from({ length: 3 }, () => openBrowserWith(gateway, browser.token()));
      const answers = await Promise.all(copies.map((copy) => withPassword(copy)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      for (const answer of answers.filter(({ status }) => status !== 200))
        expectError(answer, 401, 'not_authenticated');
    });

    it('refuses a wrong password: 401, and the cookie stays', async () => {
      const answer = await guess();
      expectError(answer, 401, 'verification_failed', null);
      expect(answer.headers.get('set-cookie')).to.equal(null);
      expect((await readState()).verified).to.equal(false);
    });

    it('refuses a code while there is no second factor: 401', async () =>
      expectError(await withCode(browser, '123456'), 401, 'verification_failed'));
  });

  describe('with a second factor', () => {
    it('takes the code of the app, once', async () => {
      const { user, browser, app } = await enrolUser(gateway);
      await gateway.em().execute(sql`
        update session set verified_at = null, verified_until = null, verify_method = null where user_id = ${user.id}`);
      expect((await readState(browser)).methods).to.deep.equal(['totp']);
      const code = app.code();
      const answer = await withCode(browser, code);
      expect(answer.status).to.equal(200);
      expect(answer.body.data).to.include({ verified: true, method: 'totp' });
      expectError(await withCode(browser, code), 401, 'verification_failed');
      expect((await withCode(browser, app.code(1))).status).to.equal(200);
    });

    it('takes a code once, in two sessions at the same time too', async () => {
      const { user, app } = await enrolUser(gateway);
      const code = app.code();
      const browsers = await Promise.all(Array.from({ length: 4 }, () => openBrowser(gateway, user)));
      const answers = await Promise.all(browsers.map((browser) => withCode(browser, code)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    });

    it('refuses codes of two steps ago, of two steps ahead, and of another user', async () => {
      const { browser, app } = await enrolUser(gateway);
      const other = await enrolUser(gateway);
      expectError(await withCode(browser, app.code(-2)), 401, 'verification_failed');
      expectError(await withCode(browser, app.code(3)), 401, 'verification_failed');
      expectError(await withCode(browser, other.recoveryCodes[0]), 401, 'verification_failed');
      expect((await withCode(browser, app.code())).status).to.equal(200);
    });

    it('takes a recovery code instead, once', async () => {
      const { browser, recoveryCodes } = await enrolUser(gateway);
      const answer = await withCode(browser, recoveryCodes[9]);
      expect(answer.status).to.equal(200);
      expect(answer.body.data.method).to.equal('totp');
      expectError(await withCode(browser, recoveryCodes[9]), 401, 'verification_failed');
    });

    it('does not take the password', async () => {
      const { user, browser } = await enrolUser(gateway);
      expectError(await withPassword(browser, user.password), 401, 'verification_failed');
    });

    it('locks after five wrong codes, used ones included', async () => {
      const { user, browser, app } = await enrolUser(gateway);
      const code = app.code();
      expect((await withCode(browser, code)).status).to.equal(200);
      for (let round = 0; round < 4; round += 1)
        expectError(await withCode(browser, code), 401, 'verification_failed');
      expectLimited(await withCode(browser, app.wrongCode()), 'verification_locked', 5, 900);
      await forgetUsedCodes(gateway, user);
      expectLimited(await withCode(browser, app.code()), 'verification_locked', 5, 900);
    });
  });

  describe('refuses', () => {
    it('somebody who is not logged in, or has a key only: 401', async () => {
      for (const who of [gateway.anonymous, owner.key]) {
        expectError(await who.get(VERIFY), 401, 'not_authenticated');
        expectError(await withPassword(who), 401, 'not_authenticated');
      }
    });

    it('a disabled user: 403', async () => {
      await gateway.em().execute(sql`update app_user set disabled_at = now() where id = ${owner.id}`);
      expectError(await withPassword(), 403, 'account_disabled');
    });

    it('a request from another site: 403', async () => {
      const fields = { method: 'password', code: owner.password };
      const answer = await browser.post(VERIFY, fields, { 'sec-fetch-site': 'cross-site' });
      expectError(answer, 403, 'csrf_rejected');
    });

    const bodies: [title: string, fields: object, code: string, param: string][] = [
      ['no method', { code: 'x' }, 'missing_field', 'method'],
      ['no code', { method: 'password' }, 'missing_field', 'code'],
      ['another method', { method: 'webauthn', code: 'x' }, 'invalid_value', 'method'],
      ['an empty code', { method: 'totp', code: '' }, 'invalid_value', 'code'],
      ['a code that is a number', { method: 'totp', code: 123456 }, 'invalid_value', 'code'],
      ['an endless code', { method: 'password', code: 'x'.repeat(257) }, 'invalid_value', 'code'],
      ['an unknown field', { method: 'password', code: 'x', minutes: 60 }, 'invalid_request', 'minutes'],
    ];
    for (const [title, fields, code, param] of bodies)
      it(`${title}: 400 ${code}`, async () =>
        expectError(await browser.post(VERIFY, fields), 400, code, param));
  });

  it('keeps passwords, codes and tokens out of the log', async () => {
    const { user, browser, secret, recoveryCodes } = await enrolUser(gateway);
    await withCode(browser, recoveryCodes[0]);
    await withCode(browser, 'canary-code');
    for (const text of [user.password, secret, recoveryCodes[0], 'canary-code', browser.token()])
      expect(gateway.logged()).not.to.include(text);
  });
});
