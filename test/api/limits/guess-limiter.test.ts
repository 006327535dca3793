// The limits of guesses: which callers they stop, and which not.
import { expect } from 'chai';
import type { GuessKind } from '../../../api/limits/buckets.ts';
import { createGuessLimiter, type GuessLimiter } from '../../../api/limits/guess-limiter.ts';
import { createLimits } from '../../../api/limits/limits.ts';
import { GatewayError } from '../../../domain/errors.ts';
import { createLog } from '../../../log.ts';

const OWNER = 'owner@example.com';

describe('the limits for guessing', () => {
  let limiter: GuessLimiter;
  let judged: number;
  beforeEach(() => {
    const usual = { points: 20, seconds: 60 };
    const limits = createLimits({
      settings: {
        ...{ chat: usual, create: usual, read: usual, upload: usual },
        ...{ webhook: usual, auth: usual, stray: usual },
      },
      redisUrl: null,
      requiresRedis: false,
      hashKey: (key) => key,
      log: createLog({ process: 'test', level: 'silent' }),
    });
    limiter = createGuessLimiter(limits);
    judged = 0;
  });

  /** What came of one guess: `right`, `wrong`, or the bucket that refused it. */
  async function guess(ip: string, options: { subject?: string; kind?: GuessKind; right?: true } = {}) {
    const { subject = OWNER, kind = 'login', right } = options;
    try {
      const { isWrong } = await limiter.limit(kind, { ip, subject, limitBackend: 'memory' }, async () => {
        judged += 1;
        return { isWrong: !right };
      });
      return isWrong ? 'wrong' : 'right';
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      expect(error.code).to.equal('rate_limited');
      return /^"(.*)";q/.exec(error.headers['ratelimit-policy'] ?? '')?.[1];
    }
  }
  const times = async (count: number, send: () => Promise<unknown>): Promise<unknown[]> => {
    const results: unknown[] = [];
    for (let round = 0; round < count; round += 1) results.push(await send());
    return results;
  };

  it('stop a guesser, not the owner who comes from elsewhere', async () => {
    expect(await times(10, () => guess('192.0.2.1'))).to.deep.equal(Array(10).fill('wrong'));
    expect(await guess('192.0.2.1', { right: true })).to.equal('login-wrong');
    expect(await guess('192.0.2.2', { right: true })).to.equal('right');
    expect(judged).to.equal(11);
  });

  it('stop an attack from many addresses on one e-mail address', async () => {
    for (let sender = 1; sender <= 10; sender += 1) await times(10, () => guess(`192.0.2.${sender}`));
    expect(await guess('192.0.2.99')).to.equal('login-wrong-email');
    expect(await guess('192.0.2.99', { subject: 'other@example.com', right: true })).to.equal('right');
  });

  it('keep one kind of guess from another', async () => {
    await times(10, () => guess('192.0.2.1'));
    expect(await guess('192.0.2.1', { right: true })).to.equal('login-wrong');
    expect(await guess('192.0.2.1', { right: true, kind: 'verify' })).to.equal('right');
  });

  it('give the points of right answers back, however many', async () => {
    expect(await times(30, () => guess('192.0.2.1', { right: true }))).to.deep.equal(Array(30).fill('right'));
  });

  it('see one customer in a /64, and an IPv4 address in IPv6 clothes as what it is', async () => {
    for (let host = 1; host <= 10; host += 1) await guess(`2001:db8:0:1::${host}`);
    expect(await guess('2001:db8:0:1:ffff::1')).to.equal('login-wrong');
    expect(await guess('2001:db8:0:2::1')).to.equal('wrong');
    await times(10, () => guess('192.0.2.1'));
    expect(await guess('::ffff:192.0.2.1')).to.equal('login-wrong');
  });

  it('count a user’s wrong answers from everywhere once the user is proved', async () => {
    for (let sender = 1; sender <= 10; sender += 1)
      expect(await guess(`192.0.2.${sender}`, { kind: 'redeem' })).to.equal('wrong');
    expect(await guess('192.0.2.11', { kind: 'redeem' })).to.equal('redeem-wrong');
  });

  it('hold in parallel', async () => {
    const results = await Promise.all(Array.from({ length: 15 }, () => guess('192.0.2.1')));
    expect(results.filter((result) => result === 'wrong')).to.have.length(10);
    expect(judged).to.equal(10);
  });

  it('cost nothing when we fail ourselves', async () => {
    const fail = (): Promise<unknown> =>
      limiter
        .limit('login', { ip: '192.0.2.1', subject: OWNER, limitBackend: 'memory' }, () =>
          Promise.reject(new Error('away')),
        )
        .catch((error: Error) => error.message);
    expect(await times(30, fail)).to.deep.equal(Array(30).fill('away'));
    expect(await guess('192.0.2.1', { right: true })).to.equal('right');
  });
});
