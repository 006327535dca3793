// The second factor: setting it up, confirming it with a first code, taking it away.
import { expect } from 'chai';
import { URI } from 'otpauth';
import {
  enrolUser,
  expectLimited,
  forgetGuesses,
  forgetUsedCodes,
  openApp,
  openBrowser,
  openBrowserWith,
  type Browser,
} from '../../support/http/browser.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const TOTP = '/api/auth/totp';
const CONFIRM = '/api/auth/totp/confirm';

describe('the second factor', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let browser: Browser;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  beforeEach(async () => {
    forgetGuesses(gateway);
    owner = await gateway.createUser(0);
    browser = await openBrowser(gateway, owner);
    const { status } = await browser.post('/api/verify', { method: 'password', code: owner.password });
    expect(status).to.equal(200);
  });
  after(() => gateway.stop());

  const begin = async (): Promise<{ secret: string; otpauthUrl: string }> => {
    const answer = await browser.post(TOTP);
    expect(answer.status).to.equal(201);
    return answer.body.data;
  };
  const confirm = (code: string, who = browser): Promise<Answer> => who.post(CONFIRM, { code });
  const isOn = async (): Promise<boolean> => {
    const { email, password } = owner;
    const { body } = await gateway.anonymous.post('/api/auth/login', { email, password });
    const me = (await browser.get('/api/auth/me')).body.data.twoFactorEnabled;
    expect(Boolean(body.data.twoFactorRequired)).to.equal(me);
    return me;
  };

  describe('POST /api/auth/totp', () => {
    it('answers a secret and its URL; nothing is on yet', async () => {
      const data = await begin();
      expect(data).to.have.all.keys('secret', 'otpauthUrl');
      expect(data.secret).to.match(/^[A-Z2-7]{32}$/);
      const parsed = URI.parse(data.otpauthUrl);
      expect({ ...parsed, secret: parsed.secret.base32 }).to.include({
        issuer: 'SVC Gateway',
        label: owner.email,
        secret: data.secret,
        algorithm: 'SHA1',
        digits: 6,
        period: 30,
      });
      expect(await isOn()).to.equal(false);
    });

    it('replaces a secret that was not confirmed', async () => {
      const first = await begin();
      const second = await begin();
      expect(second.secret).not.to.equal(first.secret);
      const [stale, fresh] = [openApp(first.secret).code(), openApp(second.secret).code()];
      if (stale !== fresh) expectError(await confirm(stale), 401, 'verification_failed');
      expect((await confirm(fresh)).status).to.equal(200);
    });

    it('refuses without step-up, without a session, and while one is on', async () => {
      expectError(await owner.session.post(TOTP), 403, 'verification_required');
      expectError(await gateway.anonymous.post(TOTP), 401, 'not_authenticated');
      expectError(await owner.key.post(TOTP), 401, 'not_authenticated');
      const { browser, app } = await enrolUser(gateway);
      expectError(await browser.post(TOTP), 409, 'totp_already_enabled');
      expect((await browser.post('/api/verify', { method: 'totp', code: app.code() })).status).to.equal(200);
    });
  });

  describe('POST /api/auth/totp/confirm', () => {
    it('puts it in force and shows ten recovery codes', async () => {
      const { secret } = await begin();
      const answer = await confirm(openApp(secret).code());
      expect(answer.status).to.equal(200);
      const { recoveryCodes } = answer.body.data;
      expect(new Set(recoveryCodes).size).to.equal(10);
      expect((await browser.get('/api/verify')).body.data).to.include({ verified: false, method: null });
      for (const code of recoveryCodes)
        expect(code).to.match(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/);
      expect(await isOn()).to.equal(true);
    });

    it('uses the code up', async () => {
      const { secret } = await begin();
      const app = openApp(secret);
      const code = app.code();
      await confirm(code);
      expectError(await browser.post('/api/verify', { method: 'totp', code }), 401, 'verification_failed');
      const next = await browser.post('/api/verify', { method: 'totp', code: app.code(1) });
      expect(next.status).to.equal(200);
    });

    it('refuses a wrong code: 401; the eleventh in an hour: 429', async () => {
      const { secret } = await begin();
      const app = openApp(secret);
      for (const code of [app.wrongCode(), app.code(-2), 'ABCD-EFGH-JKMN-PQRS', ...Array(7).fill('x')])
        expectError(await confirm(code), 401, 'verification_failed');
      expectLimited(await confirm(app.code()), 'rate_limited', 10, 3_600);
      expect(await isOn()).to.equal(false);
    });

    it('is confirmed once, also in parallel', async () => {
      const code = openApp((await begin()).secret).code();
      const copies = Array.from({ length: 4 }, () => openBrowserWith(gateway, browser.token()));
      const answers = await Promise.all(copies.map((copy) => confirm(code, copy)));
      expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
      for (const { status } of answers) expect(status).to.be.oneOf([200, 401, 409]);
      expectError(await confirm(code), 409, 'totp_already_enabled');
    });

    it('answers 404 when nothing is being set up, 401 without a session', async () => {
      expectError(await confirm('123456'), 404, 'not_found');
      expectError(await gateway.anonymous.post(CONFIRM, { code: '123456' }), 401, 'not_authenticated');
    });

    const bodies: [title: string, fields: object, code: string, param: string][] = [
      ['no code', {}, 'missing_field', 'code'],
      ['a number', { code: 123456 }, 'invalid_value', 'code'],
      ['an empty code', { code: '' }, 'invalid_value', 'code'],
      ['an unknown field', { code: '123456', secret: 'x' }, 'invalid_request', 'secret'],
    ];
    for (const [title, fields, code, param] of bodies)
      it(`refuses ${title}: 400 ${code}`, async () =>
        expectError(await browser.post(CONFIRM, fields), 400, code, param));
  });

  describe('DELETE /api/auth/totp', () => {
    it('removes it with its recovery codes; another one can be set up', async () => {
      const enrolled = await enrolUser(gateway);
      ({ user: owner, browser } = enrolled);
      expect(await isOn()).to.equal(true);
      expect((await browser.delete(TOTP)).status).to.equal(204);
      expect(await isOn()).to.equal(false);
      expect((await browser.delete(TOTP)).status, 'again').to.equal(204);
      const password = await browser.post('/api/verify', { method: 'password', code: owner.password });
      expect(password.status).to.equal(200);

      const app = openApp((await begin()).secret);
      expect((await confirm(app.code())).status).to.equal(200);
      await forgetUsedCodes(gateway, owner);
      const old = await browser.post('/api/verify', { method: 'totp', code: enrolled.recoveryCodes[0] });
      expectError(old, 401, 'verification_failed');
      expect((await browser.post('/api/verify', { method: 'totp', code: app.code() })).status).to.equal(200);
    });

    it('refuses without step-up and without a session', async () => {
      const { user } = await enrolUser(gateway);
      expectError(await user.session.delete(TOTP), 403, 'verification_required');
      expectError(await gateway.anonymous.delete(TOTP), 401, 'not_authenticated');
    });
  });

  it('keeps neither the secret nor the codes where somebody could read them', async () => {
    const { secret, recoveryCodes } = await enrolUser(gateway);
    const kept = [...(await readWholeDatabase(gateway)).values(), gateway.logged()].join('\n').toUpperCase();
    for (const text of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))])
      expect(kept).not.to.include(text);
  });
});
