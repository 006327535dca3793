// The circuit breaker: when it opens, how it closes, and that no caller waits meanwhile.
import { expect } from 'chai';
import { createBreaker, type Breaker } from '../../../api/limits/breaker.ts';
import { until } from '../../support/until.ts';

describe('the circuit breaker', () => {
  let breaker: Breaker;
  let isThere: boolean;
  let calls: number;
  let probes: number;
  let changes: string[];
  let run: () => Promise<string | null>;
  beforeEach(() => {
    [isThere, calls, probes, changes] = [false, 0, 0, []];
    const answer = async (): Promise<string> => {
      if (!isThere) throw new Error('away');
      return 'answer';
    };
    breaker = createBreaker({
      failuresMax: 5,
      openMs: 20,
      probe: () => {
        probes += 1;
        return answer();
      },
      onOpen: (reason) => void changes.push(`open: ${reason instanceof Error ? reason.message : ''}`),
      onClose: () => void changes.push('closed'),
    });
    run = () =>
      breaker.run(() => {
        calls += 1;
        return answer();
      });
  });
  afterEach(() => breaker.stop());

  it('opens after five failures in a row, once, and then asks nobody', async () => {
    for (let count = 0; count < 10; count += 1) expect(await run()).to.equal(null);
    expect({ calls, changes, isOpen: breaker.isOpen() }).to.deep.equal({
      calls: 5,
      changes: ['open: away'],
      isOpen: true,
    });
  });

  it('opens once for many failures at a time', async () => {
    await Promise.all(Array.from({ length: 20 }, run));
    expect(changes).to.deep.equal(['open: away']);
  });

  it('stays closed while a success comes between', async () => {
    for (let count = 0; count < 20; count += 1) {
      isThere = count % 5 === 4;
      expect(await run()).to.equal(isThere ? 'answer' : null);
    }
    expect(changes).to.deep.equal([]);
  });

  it('tries by itself until there is an answer, and closes', async () => {
    await Promise.all(Array.from({ length: 5 }, run));
    await until('it has tried twice', async () => probes >= 2);
    expect(breaker.isOpen()).to.equal(true);
    isThere = true;
    await until('it is closed', async () => !breaker.isOpen());
    expect(changes).to.deep.equal(['open: away', 'closed']);
    expect(await run()).to.equal('answer');
    expect(calls).to.equal(6);
  });

  it('tries at once when it is told to, and not while it is closed', async () => {
    breaker.retry();
    expect(probes).to.equal(0);
    await Promise.all(Array.from({ length: 5 }, run));
    isThere = true;
    breaker.retry();
    breaker.retry();
    expect(probes).to.equal(1);
    await until('it is closed', async () => !breaker.isOpen());
  });
});
