// Turns of creations and long reads: a few at once for each user, and no user waits for another one's line.
import { expect } from 'chai';
import { createTurns, type TurnLimits, type EndTurn, type NoTurn } from '../../../api/http/turns.ts';
import { until } from '../../support/until.ts';

const LIMITS = {
  turnsMax: 4,
  turnsPerUserMax: 2,
  lineMax: 10,
  linesMax: 15,
  waitMsMax: 20_000,
  beginsPerRoundMax: 1,
};

/** Takes turns under names, and notes in which order they begin. */
function createTaker(limits: Partial<TurnLimits> = {}) {
  const turns = createTurns({ ...LIMITS, ...limits });
  const begun: string[] = [];
  const ends = new Map<string, EndTurn>();
  const take = async (
    userId: string,
    name: string,
    left = new AbortController().signal,
  ): Promise<NoTurn | 'begun'> => {
    const outcome = await turns.take(userId, left);
    if (typeof outcome === 'string') return outcome;
    begun.push(name);
    ends.set(name, outcome);
    return 'begun';
  };
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { turns, begun, take, end };
}

describe('turns of creations', () => {
  it('let two creations of a user begin at once, and the others in their order as these end', async () => {
    const { begun, take, end } = createTaker();
    const all = ['1', '2', '3', '4'].map((name) => take('one', name));
    await Promise.all(all.slice(0, 2));
    expect(begun).to.deep.equal(['1', '2']);
    await end('2');
    expect(begun).to.deep.equal(['1', '2', '3']);
    await end('2'); // a turn ends once
    expect(begun).to.deep.equal(['1', '2', '3']);
    await end('1');
    expect(await Promise.all(all)).to.deep.equal(['begun', 'begun', 'begun', 'begun']);
  });

  it('come to each user in rotation, however long the line of one of them is', async () => {
    const { begun, take, end } = createTaker({ turnsMax: 1 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) void take('a', name);
    for (const name of ['b1', 'b2']) void take('b', name);
    void take('c', 'c1');
    await until('the first one begins', async () => begun.length === 1);
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']) await end(name);
    expect(begun).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('are refused beyond the line of the user, and beyond the lines of all', async () => {
    const { take } = createTaker();
    const fill = (userId: string, count: number) => {
      for (let each = 0; each < count; each += 1) void take(userId, userId);
    };
    fill('one', 12);
    expect(await take('one', 'x')).to.equal('line_full');
    fill('another', 7);
    expect(await take('third', 'x')).to.equal('lines_full');
  });

  it('begin so many at once in a round of the event loop, one of each user before more of one', async () => {
    const { begun, take } = createTaker({ turnsMax: 100, turnsPerUserMax: 100, beginsPerRoundMax: 3 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']) void take('a', name);
    void take('b', 'b1');
    await new Promise(process.nextTick);
    const rounds = [begun.length];
    while (begun.length < 8) {
      await new Promise((resolve) => setImmediate(resolve));
      rounds.push(begun.length);
    }
    expect(begun).to.deep.equal(['a1', 'a2', 'a3', 'a4', 'b1', 'a5', 'a6', 'a7']);
    for (const [index, count] of rounds.entries()) expect(count - (rounds[index - 1] ?? 0)).to.be.at.most(3);
  });

  it('are not kept for callers who left, and not waited for without an end', async () => {
    const { turns, begun, take, end } = createTaker({ waitMsMax: 20, turnsPerUserMax: 1 });
    await take('one', '1');
    const leaving = new AbortController();
    const left = take('one', '2', leaving.signal);
    leaving.abort();
    expect(await left).to.equal('left');
    expect(await take('one', '3', leaving.signal)).to.equal('left');
    expect(await take('one', '4')).to.equal('late');
    expect(turns.countWaiting()).to.equal(0);
    await end('1');
    expect(await take('one', '5')).to.equal('begun');
    expect(begun).to.deep.equal(['1', '5']);
  });
});
