// Logging in and out of the console, and which cookies count.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createSession } from '../../../db/identity/sessions.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const LOGIN = '/api/auth/login';
const LOGOUT = '/api/auth/logout';
const ME = '/api/auth/me';

describe('console sessions', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(0);
  });
  after(() => gateway.stop());

  const logIn = (fields: object) => gateway.anonymous.post(LOGIN, fields);
  const tokenOf = ({ headers }: Answer) =>
    /^svc_session=([^;]*)/.exec(headers.get('set-cookie') ?? '')?.[1] ?? '';
  const readMe = (cookie: string) => gateway.anonymous.get(ME, { cookie });
  const newToken = (user = owner) => createSession(gateway.em(), gateway.secrets, user.id);
  const changeSession = (change: ReturnType<typeof sql>, userId: string) =>
    gateway.em().execute(sql`update session set ${change} where user_id = ${userId}`);

  describe('POST /api/auth/login', () => {
    it('answers the user and a cookie that works', async () => {
      const { email, password, id } = owner;
      const answer = await logIn({ email, password });
      expect(answer.status).to.equal(200);
      const { data } = answer.body;
      expect(data).to.deep.equal({
        id,
        email,
        permissions: [],
        disabled: false,
        twoFactorEnabled: false,
        createdAt: data.createdAt,
      });
      const me = await readMe(`svc_session=${tokenOf(answer)}`);
      expect(me.status).to.equal(200);
      expect(me.body.data).to.deep.equal(data);
    });

    it('sets a cookie that scripts and other sites do not get', async () => {
      const answer = await logIn(owner);
      expect(answer.status).to.equal(400); // fields it does not know
      const { headers } = await logIn({ email: owner.email, password: owner.password });
      const attributes = (headers.get('set-cookie') ?? '').split('; ').slice(1);
      expect(attributes).to.have.members(['HttpOnly', 'SameSite=Lax', 'Path=/']);
    });

    it('adds Secure in production', async () => {
      gateway.services.production = true;
      const { headers } = await logIn({ email: owner.email, password: owner.password });
      gateway.services.production = false;
      expect(headers.get('set-cookie')).to.match(/; Secure(;|$)/);
    });

    it('gives every login a session of its own and keeps only a hash of it', async () => {
      const { email, password } = owner;
      const tokens = [tokenOf(await logIn({ email, password })), tokenOf(await logIn({ email, password }))];
      expect(new Set(tokens).size).to.equal(2);
      const [row] = await gateway
        .em()
        .execute<{ rows: string }[]>(sql`select json_agg(s)::text as rows from session s`);
      for (const token of tokens) {
        expect(token).to.match(/^[\w-]{51}$/);
        expect(row?.rows).not.to.contain(token);
        expect(row?.rows).not.to.contain(Buffer.from(token).toString('hex'));
        expect(gateway.logged()).not.to.contain(token);
      }
    });

    it('takes the address in any case', async () => {
      const { email, password } = owner;
      expect((await logIn({ email: ` ${email.toUpperCase()} `, password })).status).to.equal(200);
    });

    it('gives one answer for an unknown user and a wrong password', async () => {
      const headers = { 'x-request-id': 'same' };
      const wrong = await gateway.anonymous.post(LOGIN, { email: owner.email, password: 'wrong' }, headers);
      const unknown = await gateway.anonymous.post(
        LOGIN,
        { email: 'nobody@example.com', password: 'wrong' },
        headers,
      );
      expectError(wrong, 401, 'invalid_credentials', null);
      expect(unknown.body).to.deep.equal(wrong.body);
      expect(wrong.headers.get('set-cookie')).to.equal(null);
      expect(unknown.headers.get('set-cookie')).to.equal(null);
    });

    const bodies: [title: string, fields: object, code: string, param: string][] = [
      ['no e-mail address', { password: 'x' }, 'missing_field', 'email'],
      ['no password', { email: 'a@example.com' }, 'missing_field', 'password'],
      ['a password that is a number', { email: 'a@example.com', password: 1 }, 'invalid_value', 'password'],
      ['a password that is a list', { email: 'a@example.com', password: ['x'] }, 'invalid_value', 'password'],
      [
        'an endless password',
        { email: 'a@example.com', password: 'x'.repeat(100_000) },
        'invalid_value',
        'password',
      ],
      [
        'an unknown field',
        { email: 'a@example.com', password: 'x', admin: true },
        'invalid_request',
        'admin',
      ],
    ];
    for (const [title, fields, code, param] of bodies)
      it(`refuses ${title}: 400 ${code}`, async () => expectError(await logIn(fields), 400, code, param));

    it('refuses a disabled user, whose sessions and keys stop working too', async () => {
      const user = await gateway.createUser(0);
      await gateway.em().execute(sql`update app_user set disabled_at = now() where id = ${user.id}`);
      expectError(await logIn({ email: user.email, password: user.password }), 403, 'account_disabled');
      expectError(await user.session.get(ME), 403, 'account_disabled');
      expectError(await user.key.get('/v1/balance'), 403, 'account_disabled');
      expectError(await logIn({ email: user.email, password: 'wrong' }), 401, 'invalid_credentials');
    });
  });

  describe('POST /api/auth/logout', () => {
    it('ends the session on the server and removes the cookie', async () => {
      const cookie = `svc_session=${await newToken()}`;
      const answer = await gateway.anonymous.post(LOGOUT, undefined, { cookie });
      expect(answer.status).to.equal(204);
      expect(answer.body).to.equal(null);
      expect(answer.headers.get('set-cookie'))
        .to.match(/^svc_session=;/)
        .and.to.contain('Max-Age=0');
      expectError(await readMe(cookie), 401, 'not_authenticated');
      expectError(await gateway.anonymous.post(LOGOUT, undefined, { cookie }), 401, 'not_authenticated');
    });

    it('leaves other sessions of the same user alone', async () => {
      const [ending, staying] = [await newToken(), await newToken()];
      await gateway.anonymous.post(LOGOUT, undefined, { cookie: `svc_session=${ending}` });
      expect((await readMe(`svc_session=${staying}`)).status).to.equal(200);
    });
  });

  describe('the cookie', () => {
    const good = () => newToken();
    const cookies: [title: string, cookie: (token: string) => string, works: boolean][] = [
      ['among others', (token) => `a=1; svc_session=${token}; b=2`, true],
      ['without spaces', (token) => `a=1;svc_session=${token}`, true],
      ['with an empty value', () => 'svc_session=', false],
      ['with a random value', () => `svc_session=${'A'.repeat(43)}`, false],
      ['with a value of another form', () => `svc_session=' or 1=1 --`, false],
      [
        'with one character changed',
        (token) => `svc_session=${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`,
        false,
      ],
      ['with something behind it', (token) => `svc_session=${token}x`, false],
      ['under another name', (token) => `SVC_SESSION=${token}`, false],
      ['twice', (token) => `svc_session=${token}; svc_session=${token}`, false],
      ['behind an injected one', (token) => `svc_session=${'A'.repeat(43)}; svc_session=${token}`, false],
    ];
    for (const [title, write, works] of cookies)
      it(`${works ? 'counts' : 'does not count'} ${title}`, async () => {
        const answer = await readMe(write(await good()));
        if (works) expect(answer.status).to.equal(200);
        else expectError(answer, 401, 'not_authenticated', null);
      });

    it('does not count without a session, or with an API key instead', async () => {
      expectError(await gateway.anonymous.get(ME), 401, 'not_authenticated', null);
      expectError(await owner.key.get(ME), 401, 'not_authenticated', null);
    });

    for (const [title, change] of [
      ['past its end', sql`expires_at = now() - interval '1 second'`],
      ['unused for half a day', sql`last_seen_at = now() - interval '13 hours'`],
    ] as const)
      it(`does not count ${title}`, async () => {
        const user = await gateway.createUser(0);
        expect((await user.session.get(ME)).status).to.equal(200);
        await changeSession(change, user.id);
        expectError(await user.session.get(ME), 401, 'not_authenticated', null);
      });

    it('lives on while it is used', async () => {
      const user = await gateway.createUser(0);
      await changeSession(sql`last_seen_at = now() - interval '11 hours'`, user.id);
      expect((await user.session.get(ME)).status).to.equal(200);
      const [row] = await gateway
        .em()
        .execute<{ fresh: boolean }[]>(
          sql`select last_seen_at > now() - interval '1 minute' as fresh from session where user_id = ${user.id}`,
        );
      expect(row?.fresh).to.equal(true);
    });
  });

  describe('requests from other sites', () => {
    type Case = [title: string, headers: Record<string, string>, rejected: boolean];
    const cases: () => Case[] = () => [
      ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }, true],
      ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }, true],
      ['Sec-Fetch-Site: something new', { 'sec-fetch-site': 'x' }, true],
      ['Sec-Fetch-Site: same-origin', { 'sec-fetch-site': 'same-origin' }, false],
      ['Sec-Fetch-Site: none', { 'sec-fetch-site': 'none' }, false],
      ['a foreign Origin', { origin: 'https://evil.example' }, true],
      ['Origin: null', { origin: 'null' }, true],
      ['our host on another port', { origin: 'http://127.0.0.1:1' }, true],
      ['our origin as a prefix', { origin: `${gateway.baseUrl}.evil.example` }, true],
      ['our own Origin', { origin: gateway.baseUrl }, false],
      ['neither header', {}, false],
    ];
    it('are refused with 403 when they would change something', async () => {
      for (const [title, headers, rejected] of cases()) {
        for (const send of [
          () => owner.session.post('/api/tasks', {}, headers),
          () => owner.session.delete('/api/tasks/x', headers),
          () => owner.session.post('/api/tasks/x/retry', undefined, headers),
          () => gateway.anonymous.post(LOGIN, {}, headers),
        ]) {
          const answer = await send();
          if (rejected) expectError(answer, 403, 'csrf_rejected', null);
          else expect([400, 404], title).to.include(answer.status);
        }
      }
    });

    it('may read, but are told no origin that could read the answer', async () => {
      for (const [title, headers] of cases()) {
        const answer = await owner.session.get(ME, headers);
        expect(answer.status, title).to.equal(200);
        expect(answer.headers.get('access-control-allow-origin'), title).to.equal(null);
        const head = await owner.session.send('HEAD', ME, { headers });
        expect(head.status, title).to.equal(200);
      }
    });

    it('with a bearer key are served: a key is no cookie', async () => {
      const answer = await owner.key.post('/v1/estimates', {}, { 'sec-fetch-site': 'cross-site' });
      expectError(answer, 400, 'missing_field');
    });
  });
});
