// Readiness: the database decides, and no answer is waited for longer than a moment.
import { expect } from 'chai';
import { answerWithin, checkSharedParts } from '../../runtime/readiness.ts';

const never = () => new Promise<never>(() => undefined);

describe('the readiness of a process', () => {
  for (const [title, isSchemaCurrent, database, isReady] of [
    ['a database with the current schema', async () => true, 'ok', true],
    ['a database without the last migration', async () => false, 'outdated', false],
    ['a database that fails', () => Promise.reject(new Error('refused')), 'down', false],
    ['a database that does not answer', never, 'down', false],
  ] as const)
    it(`is ${isReady} with ${title}`, async () => {
      const readiness = await checkSharedParts({ isSchemaCurrent, isTemporalReachable: async () => true });
      expect(readiness).to.deep.equal({ isReady, parts: { database, temporal: 'ok' } });
    });

  it('does not need Temporal, and shows that it is away', async () => {
    const ask = { isSchemaCurrent: async () => true, isTemporalReachable: async () => false };
    const { isReady, parts } = await checkSharedParts(ask);
    expect({ isReady, ...parts }).to.deep.equal({ isReady: true, database: 'ok', temporal: 'down' });
  });
});

describe('an answer within a time', () => {
  it('is the answer when it comes in time', async () => {
    expect(await answerWithin(1_000, Promise.resolve('yes'))).to.equal('yes');
  });

  it('is null when it fails or is late', async () => {
    expect(await answerWithin(1_000, Promise.reject(new Error('no')))).to.equal(null);
    expect(await answerWithin(10, never())).to.equal(null);
  });
});
