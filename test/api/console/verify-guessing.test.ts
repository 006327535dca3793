// Guessing at /api/verify: five wrong answers lock the user for 15 minutes, and each address has its limit.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { expectLimited, forgetGuesses, openBrowser, type Browser } from '../../support/http/browser.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Actor, Answer } from '../../support/http/http.ts';

const VERIFY = '/api/verify';

describe('guessing at /api/verify', () => {
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
  const readState = async (who: Actor = browser) => (await who.get(VERIFY)).body.data;
  const endLock = () =>
    gateway
      .em()
      .execute(
        sql`update app_user set verify_locked_until = now() - interval '1 second' where id = ${owner.id}`,
      );

  it('is locked from the fifth wrong answer on, for a right one too, for 15 minutes', async () => {
    for (let round = 0; round < 4; round += 1) expectError(await guess(), 401, 'verification_failed');
    expectLimited(await guess(), 'verification_locked', 5, 900);
    expectLimited(await guess(), 'verification_locked', 5, 900);
    expectLimited(await withPassword(), 'verification_locked', 5, 900);
    expect((await readState()).verified).to.equal(false);
    await endLock();
    expect((await withPassword()).status).to.equal(200);
  });

  it('begins anew when the lock is over', async () => {
    for (let round = 0; round < 5; round += 1) await guess();
    await endLock();
    for (let round = 0; round < 4; round += 1) expectError(await guess(), 401, 'verification_failed');
    expectLimited(await guess(), 'verification_locked', 5, 900);
  });

  it('is forgotten with a right answer', async () => {
    for (let round = 0; round < 4; round += 1) await guess();
    expect((await withPassword()).status).to.equal(200);
    for (let round = 0; round < 4; round += 1) expectError(await guess(), 401, 'verification_failed');
  });

  it('does not get further in parallel', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => guess()));
    const codes = answers.map(({ body }) => body.error.code).toSorted((one, other) => (one < other ? -1 : 1));
    expect(codes).to.deep.equal([
      ...Array(4).fill('verification_failed'),
      ...Array(6).fill('verification_locked'),
    ]);
  });

  it('locks all sessions of the user, and nobody else', async () => {
    const other = await openBrowser(gateway, owner);
    const stranger = await gateway.createUser(0);
    for (let round = 0; round < 5; round += 1) await guess();
    expectLimited(await withPassword(other), 'verification_locked', 5, 900);
    expect((await withPassword(stranger.session, stranger.password)).status).to.equal(200);
  });

  it('cannot be done to somebody by those who have no session of theirs', async () => {
    const { email } = owner;
    for (let round = 0; round < 6; round += 1)
      await gateway.anonymous.post('/api/auth/login', { email, password: 'wrong' });
    for (let round = 0; round < 6; round += 1) await guess(gateway.anonymous);
    expect((await withPassword()).status).to.equal(200);
  });

  it('is limited to ten wrong answers an hour, locks or not', async () => {
    for (let round = 0; round < 10; round += 1) {
      await guess();
      if (round === 4 || round === 9) await endLock();
    }
    expectLimited(await withPassword(), 'rate_limited', 10, 3_600);
  });

  it('is limited to 20 guesses per address', async () => {
    for (let round = 0; round < 20; round += 1) expect((await withPassword()).status).to.equal(200);
    expectLimited(await withPassword(), 'rate_limited', 20, 1_200);
  });
});
