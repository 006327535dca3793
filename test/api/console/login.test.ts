// Logging in with a password: what guessing costs, and which sessions a login leaves.
import { expect } from 'chai';
import {
  enrolUser,
  expectLimited,
  forgetGuesses,
  forgetUsedCodes,
  isAlive,
  openBrowser,
  repeat,
  sortedStatuses,
  type Enrolled,
} from '../../support/http/browser.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';
import { medianOf } from '../../support/timing.ts';

const LOGIN = '/api/auth/login';

describe('logging in to the console', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let enrolled: Enrolled;

  before(async () => {
    gateway = await startGateway({ worker: false, env: { SVC_LIMIT_AUTH: '20/1200' } });
    owner = await gateway.createUser(0);
    enrolled = await enrolUser(gateway);
  });
  beforeEach(async () => {
    forgetGuesses(gateway);
    await forgetUsedCodes(gateway, enrolled.user);
  });
  after(() => gateway.stop());

  const logIn = ({ email, password }: { email: string; password: string }): Promise<Answer> =>
    gateway.anonymous.post(LOGIN, { email, password });
  const wrongFor = (email: string): Promise<Answer> => logIn({ email, password: 'wrong' });

  describe('sessions', () => {
    it('replaces the session that the browser had', async () => {
      const browser = await openBrowser(gateway, owner);
      const old = browser.token();
      const { email, password } = owner;
      expect((await browser.post(LOGIN, { email, password })).status).to.equal(200);
      expect(browser.token()).not.to.equal(old);
      expect([await isAlive(gateway, old), await isAlive(gateway, browser.token())]).to.deep.equal([
        false,
        true,
      ]);
    });

    it('leaves it alone when the login fails, or still waits for the second factor', async () => {
      const browser = await openBrowser(gateway, owner);
      await browser.post(LOGIN, { email: owner.email, password: 'wrong' });
      const { email, password } = enrolled.user;
      await browser.post(LOGIN, { email, password });
      expect(await isAlive(gateway, browser.token())).to.equal(true);
    });
  });

  describe('guessing', () => {
    it('is limited to 20 guesses per address, whoever is meant; then even the right password waits', async () => {
      const answers = await repeat(20, () => wrongFor(`${Math.random()}@example.com`));
      expect(new Set(sortedStatuses(answers))).to.deep.equal(new Set([401]));
      const refused = await logIn(owner);
      expectLimited(refused, 'rate_limited', 20, 1_200);
      expect(refused.headers.get('set-cookie')).to.equal(null);
    });

    it('is limited to 10 wrong answers per e-mail address and sender, unknown users included', async () => {
      for (const email of [owner.email, 'nobody@example.com']) {
        forgetGuesses(gateway);
        expect(new Set(sortedStatuses(await repeat(10, () => wrongFor(email))))).to.deep.equal(
          new Set([401]),
        );
        expectLimited(await wrongFor(` ${email.toUpperCase()}`), 'rate_limited', 10, 3_600);
        expectLimited(await logIn({ email, password: owner.password }), 'rate_limited', 10, 3_600);
        expect((await logIn(enrolled.user)).status).to.equal(200);
      }
    });

    it('holds for parallel guesses', async () => {
      const answers = await Promise.all(Array.from({ length: 15 }, () => wrongFor(owner.email)));
      expect(sortedStatuses(answers)).to.deep.equal([...Array(10).fill(401), ...Array(5).fill(429)]);
    });

    it('does not count right answers as wrong ones, nor bodies that are none', async () => {
      await repeat(8, () => gateway.anonymous.post(LOGIN, { email: owner.email }));
      const answers = await repeat(12, () => logIn(owner));
      expect(new Set(sortedStatuses(answers))).to.deep.equal(new Set([200]));
    });

    it('takes as long for an unknown user as for a wrong password', async () => {
      const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] };
      await wrongFor(owner.email);
      for (let round = 0; round < 10; round += 1) {
        for (const [kind, email] of [
          ['known', owner.email],
          ['unknown', 'nobody@example.com'],
        ] as const) {
          forgetGuesses(gateway);
          const start = performance.now();
          await wrongFor(email);
          times[kind].push(performance.now() - start);
        }
      }
      expect(medianOf(times.unknown) / medianOf(times.known)).to.be.within(0.5, 2);
    });
  });
});
