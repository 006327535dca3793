// Changing one's password: what is refused, and what becomes of the sessions.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import {
  enrolUser,
  expectLimited,
  forgetGuesses,
  isAlive,
  openBrowser,
  openBrowserWith,
  tokenOf,
} from '../../support/http/browser.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const PASSWORD = '/api/auth/password';
const NEW = 'a better horse, a better battery';

describe('POST /api/auth/password', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  beforeEach(() => forgetGuesses(gateway));
  after(() => gateway.stop());

  const logIn = ({ email }: TestUser, password: string): Promise<Answer> =>
    gateway.anonymous.post('/api/auth/login', { email, password });

  it('answers the user and a new cookie; the old cookie is dead, and only the new password works', async () => {
    const user = await gateway.createUser(0);
    const browser = await openBrowser(gateway, user);
    const old = browser.token();
    const answer = await browser.post(PASSWORD, { currentPassword: user.password, newPassword: NEW });
    expect(answer.status).to.equal(200);
    expect(answer.body.data).to.include({ id: user.id, email: user.email });
    expect(browser.token()).not.to.equal(old);
    expect([await isAlive(gateway, old), await isAlive(gateway, browser.token())]).to.deep.equal([
      false,
      true,
    ]);
    expectError(await logIn(user, user.password), 401, 'invalid_credentials');
    expect((await logIn(user, NEW)).status).to.equal(200);
  });

  it('ends the user’s other sessions, and nobody else’s', async () => {
    const user = await gateway.createUser(0);
    const stranger = await gateway.createUser(0);
    const [browser, other, strangers] = await Promise.all([
      openBrowser(gateway, user),
      openBrowser(gateway, user),
      openBrowser(gateway, stranger),
    ]);
    await browser.post(PASSWORD, { currentPassword: user.password, newPassword: NEW });
    expectError(await other.get('/api/auth/me'), 401, 'not_authenticated');
    expectError(await user.session.get('/api/auth/me'), 401, 'not_authenticated');
    expect((await strangers.get('/api/auth/me')).status).to.equal(200);
    expect((await user.key.get('/v1/balance')).status, 'keys are not sessions').to.equal(200);
  });

  it('ends logins that wait for their second factor', async () => {
    const { user, browser, app } = await enrolUser(gateway);
    const { flowToken } = (await logIn(user, user.password)).body.data;
    await browser.post(PASSWORD, { currentPassword: user.password, newPassword: NEW });
    const answer = await gateway.anonymous.post('/api/auth/login/2fa', { flowToken, code: app.code() });
    expectError(answer, 401, 'invalid_credentials');
  });

  it('leaves no session of the old password behind, whatever logs in meanwhile', async () => {
    const user = await gateway.createUser(0);
    const browser = await openBrowser(gateway, user);
    const changing = browser.post(PASSWORD, { currentPassword: user.password, newPassword: NEW });
    const logins = Promise.all(Array.from({ length: 8 }, () => logIn(user, user.password)));
    expect((await changing).status).to.equal(200);
    for (const login of await logins) {
      if (login.status !== 200) expectError(login, 401, 'invalid_credentials');
      else expect(await isAlive(gateway, tokenOf(login) ?? '')).to.equal(false);
    }
  });

  it('lets one of several parallel changes win', async () => {
    const user = await gateway.createUser(0);
    const first = await openBrowser(gateway, user);
    const second = await openBrowser(gateway, user);
    const browsers = [first, first, second, second].map(({ token }) => openBrowserWith(gateway, token()));
    const answers = await Promise.all(
      browsers.map((browser, index) =>
        browser.post(PASSWORD, { currentPassword: user.password, newPassword: `${NEW} ${index}` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    expect(answers.filter(({ status }) => status === 401)).to.have.length(3);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await logIn(user, `${NEW} ${winner}`)).status).to.equal(200);
  });

  describe('refuses', () => {
    let user: TestUser;
    before(async () => {
      user = await gateway.createUser(0);
    });
    const change = (fields: object): Promise<Answer> => user.session.post(PASSWORD, fields);

    it('a wrong current password: 401, and nothing changes', async () => {
      const answer = await change({ currentPassword: 'wrong', newPassword: NEW });
      expectError(answer, 401, 'invalid_credentials', null);
      expect(answer.headers.get('set-cookie')).to.equal(null);
      expect((await logIn(user, user.password)).status).to.equal(200);
    });

    it('the eleventh guess within an hour: 429', async () => {
      for (let guess = 0; guess < 10; guess += 1)
        expectError(await change({ currentPassword: 'wrong', newPassword: NEW }), 401, 'invalid_credentials');
      expectLimited(
        await change({ currentPassword: user.password, newPassword: NEW }),
        'rate_limited',
        10,
        3_600,
      );
    });

    it('somebody who is not logged in, or has a key only: 401', async () => {
      const fields = { currentPassword: user.password, newPassword: NEW };
      expectError(await gateway.anonymous.post(PASSWORD, fields), 401, 'not_authenticated');
      expectError(await user.key.post(PASSWORD, fields), 401, 'not_authenticated');
    });

    const bodies: [title: string, fields: (current: string) => object, code: string, param: string][] = [
      ['no current password', () => ({ newPassword: NEW }), 'missing_field', 'currentPassword'],
      ['no new password', (currentPassword) => ({ currentPassword }), 'missing_field', 'newPassword'],
      [
        'seven characters',
        (currentPassword) => ({ currentPassword, newPassword: 'gtrwqzx' }),
        'invalid_value',
        'newPassword',
      ],
      [
        '257 characters',
        (currentPassword) => ({ currentPassword, newPassword: 'x'.repeat(257) }),
        'invalid_value',
        'newPassword',
      ],
      [
        'a very common one',
        (currentPassword) => ({ currentPassword, newPassword: 'Password123' }),
        'invalid_value',
        'newPassword',
      ],
      [
        'a number',
        (currentPassword) => ({ currentPassword, newPassword: 1234567890 }),
        'invalid_value',
        'newPassword',
      ],
      [
        'an unknown field',
        (currentPassword) => ({ currentPassword, newPassword: NEW, force: true }),
        'invalid_request',
        'force',
      ],
    ];
    for (const [title, fields, code, param] of bodies)
      it(`${title}: 400 ${code}`, async () =>
        expectError(await change(fields(user.password)), 400, code, param));
  });

  it('takes 8 and 256 characters, spaces and emoji included', async () => {
    const user = await gateway.createUser(0);
    const browser = await openBrowser(gateway, user);
    let currentPassword = user.password;
    for (const newPassword of ['gt rwqzx', '🐎'.repeat(128), 'y'.repeat(256)]) {
      expect((await browser.post(PASSWORD, { currentPassword, newPassword })).status).to.equal(200);
      expect((await logIn(user, newPassword)).status).to.equal(200);
      currentPassword = newPassword;
    }
  });

  it('keeps no password where somebody could read it', async () => {
    const user = await gateway.createUser(0);
    const browser = await openBrowser(gateway, user);
    const newPassword = 'canary-7bd1f2-password';
    await browser.post(PASSWORD, { currentPassword: 'canary-wrong-password', newPassword });
    await browser.post(PASSWORD, { currentPassword: user.password, newPassword });
    const kept = [...(await readWholeDatabase(gateway)).values(), gateway.logged()].join('\n');
    for (const secret of ['canary-', browser.token()]) expect(kept).not.to.include(secret);
    const [row] = await gateway.em().execute<{ hash: string }[]>(sql`
      select password_hash as hash from app_user where id = ${user.id}`);
    expect(row?.hash).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });
});
