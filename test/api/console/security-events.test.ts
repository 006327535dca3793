// GET /api/security-events: what users read about their own logins, factors, passwords and sessions.
import { expect } from 'chai';
import { createAdministrator } from '../../support/administrators.ts';
import {
  enrolUser,
  forgetGuesses,
  forgetUsedCodes,
  openBrowser,
  type Browser,
} from '../../support/http/browser.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const EVENTS = '/api/security-events';

interface Event {
  action: string;
  actor: { id: string; email: string } | null;
  target: { type: string; id: string };
  ip: string | null;
  userAgent: string | null;
  requestId: string | null;
  detail: Record<string, unknown>;
}

describe('GET /api/security-events', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let browser: Browser;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_TRUSTED_PROXIES: '1' } });
  });
  beforeEach(async () => {
    forgetGuesses(gateway);
    owner = await gateway.createUser(0);
    browser = await openBrowser(gateway, owner);
  });
  after(() => gateway.stop());

  const logIn = (from: string, user = owner): Promise<Answer> => {
    const { email, password } = user;
    const headers = { 'x-forwarded-for': from, 'user-agent': 'Safari', 'x-request-id': `login-${from}` };
    return gateway.anonymous.post('/api/auth/login', { email, password }, headers);
  };
  const read = async (who = browser, query = ''): Promise<Event[]> =>
    (await who.get(`${EVENTS}${query}`)).body.data;
  const actions = async (who = browser): Promise<string[]> => (await read(who)).map(({ action }) => action);
  const newest = async (who = browser): Promise<Event | undefined> => (await read(who))[0];

  it('tells each login with its address, and whether the user had logged in from there', async () => {
    for (const from of ['192.0.2.1', '192.0.2.2', '192.0.2.1'])
      expect((await logIn(from)).status).to.equal(200);
    const events = await read();
    expect(events.map(({ ip, detail }) => [ip, detail['isKnownAddress']])).to.deep.equal([
      ['192.0.2.1', true],
      ['192.0.2.2', false],
      ['192.0.2.1', false],
    ]);
    const [last] = events;
    expect(last).to.deep.include({
      ...{ action: 'LOG_IN', userAgent: 'Safari', requestId: 'login-192.0.2.1' },
      actor: { id: owner.id, email: owner.email },
    });
    const { data } = (await browser.get('/api/auth/sessions?limit=1')).body;
    expect(last?.target).to.deep.equal({ type: 'session', id: data[0].id });
  });

  it('tells nothing of a wrong password, and nothing of others', async () => {
    await logIn('192.0.2.1', { ...owner, password: 'wrong' });
    await logIn('192.0.2.1', await gateway.createUser(0));
    expect(await read()).to.deep.equal([]);
  });

  it('comes in pages, newest first', async () => {
    for (const from of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) await logIn(from);
    const first = (await browser.get(`${EVENTS}?limit=2`)).body;
    expect(first.hasMore).to.equal(true);
    const rest = await read(browser, `?cursor=${first.nextCursor}`);
    expect([...first.data, ...rest]).to.deep.equal(await read());
    expectError(await browser.get(`${EVENTS}?cursor=x`), 400, 'invalid_value', 'cursor');
    expectError(await gateway.anonymous.get(EVENTS), 401, 'not_authenticated');
  });

  it('tells of a second factor, of its recovery codes, and that it was removed', async () => {
    const enrolled = await enrolUser(gateway, owner);
    expect(await newest(enrolled.browser)).to.deep.include({
      action: 'ENABLE_SECOND_FACTOR',
      detail: { sessionsEnded: 2 },
    });
    const code = enrolled.recoveryCodes[0] ?? '';
    await enrolled.browser.post('/api/verify', { method: 'totp', code });
    expect(await newest(enrolled.browser)).to.deep.include({
      action: 'USE_RECOVERY_CODE',
      detail: { codesLeft: 9 },
    });
    await forgetUsedCodes(gateway, owner);
    const { flowToken } = (await logIn('192.0.2.1')).body.data;
    const code2 = enrolled.app.code();
    const done = await gateway.anonymous.post('/api/auth/login/2fa', { flowToken, code: code2 });
    expect(done.status).to.equal(200);
    expect(await newest(enrolled.browser)).to.deep.include({
      action: 'LOG_IN',
      detail: { method: 'totp', isKnownAddress: false },
    });
    await enrolled.browser.delete('/api/auth/totp');
    expect(await newest(enrolled.browser)).to.deep.include({ action: 'DISABLE_SECOND_FACTOR' });
  });

  it('tells of a changed password and of ended sessions', async () => {
    const passwords = { currentPassword: owner.password, newPassword: 'a new long sentence' };
    expect((await browser.post('/api/auth/password', passwords)).status).to.equal(200);
    expect(await newest()).to.deep.include({ action: 'CHANGE_PASSWORD', detail: { sessionsEnded: 1 } });
    await openBrowser(gateway, owner);
    await browser.delete('/api/auth/sessions');
    expect(await newest()).to.deep.include({ action: 'END_SESSIONS', detail: { sessionsEnded: 1 } });
    const other = await openBrowser(gateway, owner);
    const { data } = (await other.get('/api/auth/sessions?limit=1')).body;
    await browser.delete(`/api/auth/sessions/${data[0].id}`);
    expect((await newest())?.target).to.deep.equal({ type: 'session', id: data[0].id });
    expect(await actions()).to.deep.equal(['END_SESSIONS', 'END_SESSIONS', 'CHANGE_PASSWORD']);
  });

  it('tells once that wrong verifications locked the step-up', async () => {
    for (let tries = 0; tries < 7; tries += 1)
      await browser.post('/api/verify', { method: 'password', code: 'wrong' });
    expect(await actions()).to.deep.equal(['LOCK_VERIFICATION']);
  });

  it('tells that an administrator set the password, but not who, nor from where', async () => {
    const chief = await createAdministrator(gateway);
    const change = { password: 'a new long sentence' };
    expect((await chief.session.patch(`/api/admin/users/${owner.id}`, change)).status).to.equal(200);
    const after = await openBrowser(gateway, owner);
    expect(await newest(after)).to.deep.include({
      ...{ action: 'UPDATE_USER', actor: null, ip: null, userAgent: null, requestId: null },
      detail: { passwordChanged: true },
    });
  });
});
