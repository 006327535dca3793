// /api/auth/sessions: users see where they are logged in, and end what they do not know.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { setVerified } from '../../support/administrators.ts';
import { enrolUser, isAlive, openBrowser, type Browser } from '../../support/http/browser.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const SESSIONS = '/api/auth/sessions';
const AGENT = { 'user-agent': 'Firefox on a train' };

describe('/api/auth/sessions', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  beforeEach(async () => {
    owner = await gateway.createUser(0);
    await gateway.em().execute(sql`delete from session where user_id = ${owner.id}`);
  });
  after(() => gateway.stop());

  const logIn = async (user = owner, headers: Record<string, string> = {}): Promise<Browser> => {
    const browser = await openBrowser(gateway);
    const { email, password } = user;
    expect((await browser.post('/api/auth/login', { email, password }, headers)).status).to.equal(200);
    return browser;
  };
  const list = async (who: Browser, query = ''): Promise<Answer['body']> =>
    (await who.get(`${SESSIONS}${query}`)).body;

  describe('GET', () => {
    it('lists the user’s own, newest first, with the one that asks marked', async () => {
      await logIn(await gateway.createUser(0));
      await logIn(owner, AGENT);
      const here = await logIn();
      const { data, hasMore, nextCursor } = await list(here);
      expect({ hasMore, nextCursor }).to.deep.equal({ hasMore: false, nextCursor: null });
      expect(data.map(({ current }: { current: boolean }) => current)).to.deep.equal([true, false]);
      const [, elsewhere] = data;
      expect(elsewhere).to.have.all.keys(
        ...['id', 'createdAt', 'lastSeenAt', 'expiresAt', 'ip', 'userAgent', 'current'],
      );
      expect(elsewhere).to.include({ ip: '127.0.0.1', userAgent: AGENT['user-agent'] });
      expect(Date.parse(elsewhere.expiresAt) - Date.parse(elsewhere.createdAt)).to.equal(7 * 24 * 3_600_000);
      const first = await list(here, '?limit=1');
      expect(first).to.include({ hasMore: true, nextCursor: data[0].id });
      expect((await list(here, `?cursor=${first.nextCursor}`)).data).to.deep.equal([elsewhere]);
    });

    it('leaves out those whose time is over', async () => {
      const gone = await logIn();
      const { data } = await list(gone);
      await gateway.em().execute(sql`update session set expires_at = now() where id = ${data[0].id}`);
      expect((await list(await logIn())).data).to.have.length(1);
    });

    it('tells when and where one was last used, to the minute', async () => {
      const here = await logIn();
      const age = (seconds: number) =>
        gateway.em().execute(sql`
          update session set last_seen_at = now() - make_interval(secs => ${seconds}) where user_id = ${owner.id}`);
      await age(30);
      await here.get('/api/auth/me', AGENT);
      expect((await list(here)).data[0].userAgent).not.to.equal(AGENT['user-agent']);
      await age(90);
      await here.get('/api/auth/me', AGENT);
      const [session] = (await list(here)).data;
      expect(session.userAgent).to.equal(AGENT['user-agent']);
      expect(Date.parse(session.lastSeenAt)).to.be.closeTo(Date.now(), 5_000);
    });

    it('answers 401 without a session', async () => {
      expectError(await gateway.anonymous.get(SESSIONS), 401, 'not_authenticated');
      expectError(await owner.key.get(SESSIONS), 401, 'not_authenticated');
    });
  });

  describe('DELETE /:id', () => {
    it('ends that session at once, and no other', async () => {
      const [here, there] = [await logIn(), await logIn()];
      const [id] = (await list(there)).data.map((session: { id: string }) => session.id);
      const answer = await here.delete(`${SESSIONS}/${id}`);
      expect(answer.status).to.equal(204);
      expect(answer.headers.get('set-cookie')).to.equal(null);
      expect(await isAlive(gateway, there.token())).to.equal(false);
      expect(await isAlive(gateway, here.token())).to.equal(true);
      expectError(await here.delete(`${SESSIONS}/${id}`), 404, 'not_found');
    });

    it('is a logout for the session that asks', async () => {
      const here = await logIn();
      const token = here.token();
      const [{ id }] = (await list(here)).data;
      const answer = await here.delete(`${SESSIONS}/${id}`);
      expect([answer.status, answer.headers.get('set-cookie')?.includes('Max-Age=0')]).to.deep.equal([
        204,
        true,
      ]);
      expect(await isAlive(gateway, token)).to.equal(false);
    });

    it('answers 404 for another user’s session, which lives on', async () => {
      const stranger = await logIn(await gateway.createUser(0));
      const [{ id }] = (await list(stranger)).data;
      const here = await logIn();
      expectError(await here.delete(`${SESSIONS}/${id}`), 404, 'not_found');
      expectError(await here.delete(`${SESSIONS}/x`), 404, 'not_found');
      expect(await isAlive(gateway, stranger.token())).to.equal(true);
    });
  });

  describe('DELETE', () => {
    it('ends all others and tells how many', async () => {
      const [here, there, elsewhere] = [await logIn(), await logIn(), await logIn()];
      const { status, body } = await here.delete(SESSIONS);
      expect([status, body]).to.deep.equal([200, { data: { sessionsEnded: 2 } }]);
      for (const ended of [there, elsewhere]) expect(await isAlive(gateway, ended.token())).to.equal(false);
      expect((await here.delete(SESSIONS)).body).to.deep.equal({ data: { sessionsEnded: 0 } });
    });
  });

  it('end when a second factor is switched on, and a password proves nothing any more', async () => {
    const thief = await logIn();
    await thief.post('/api/verify', { method: 'password', code: owner.password });
    const { browser } = await enrolUser(gateway, owner);
    expectError(await thief.delete('/api/auth/totp'), 401, 'not_authenticated');
    // What a password had proved for the session that switched it on, or proves in a race, counts as nothing.
    await setVerified(gateway, owner, true);
    expect((await browser.get('/api/verify')).body.data).to.include({ verified: false, method: null });
    expectError(await browser.delete('/api/auth/totp'), 403, 'verification_required');
  });

  it('end when it is switched off', async () => {
    const { browser, user, app } = await enrolUser(gateway, owner);
    const other = await openBrowser(gateway, user);
    await browser.post('/api/verify', { method: 'totp', code: app.code() });
    expect((await browser.delete('/api/auth/totp')).status).to.equal(204);
    expect(await isAlive(gateway, other.token())).to.equal(false);
    expect(await isAlive(gateway, browser.token())).to.equal(true);
  });
});
