// What streams keep for repeats: each up to its own bound, and those of a user together up to theirs.
import { expect } from 'chai';
import { DeliveredEvents, KEPT_BUDGET } from '../../../api/chat/delivered-events.ts';
import { createBodyBudget, type BodyBudget } from '../../../api/http/body-budget.ts';

const MIB = 1024 * 1024;
const PIECE = 'x'.repeat(MIB);

describe('the streams under way of one user', () => {
  let budget: BodyBudget;

  beforeEach(() => {
    budget = createBodyBudget(KEPT_BUDGET);
  });

  const stream = (userId: string, pieces: number): DeliveredEvents => {
    const delivered = new DeliveredEvents({ budget, userId });
    for (let piece = 0; piece < pieces; piece += 1) delivered.add('', PIECE);
    return delivered;
  };
  const lengthOf = (delivered: DeliveredEvents): number | null => delivered.allBefore('')?.length ?? null;

  it('keep 64 MiB together: a further one is not kept, and takes nothing from another user', () => {
    const eight = Array.from({ length: 8 }, () => stream('usr_a', 8));
    expect(eight.map(lengthOf)).to.deep.equal(eight.map(() => 8 * MIB));
    const ninth = stream('usr_a', 0);
    ninth.add('', 'x');
    expect(lengthOf(ninth)).to.equal(null);
    expect(lengthOf(stream('usr_b', 8))).to.equal(8 * MIB);
    eight[0]?.release();
    expect(lengthOf(stream('usr_a', 8))).to.equal(8 * MIB);
  });

  it('leave room to others: a user keeps no more than is still free beside users who keep all they may', () => {
    const fill = (userId: string): number =>
      Array.from({ length: 64 }, () => lengthOf(stream(userId, 1))).filter((length) => length !== null)
        .length;
    const kept = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'].map(fill);
    expect(kept).to.deep.equal([64, 64, 64, 64, 64, 64, 64, 32, 16, 8, 4]);
  });

  it('keep none whose end makes it too long, and give its room back', () => {
    const delivered = stream('usr_a', 4);
    expect(delivered.allBefore(PIECE.repeat(5))).to.equal(null);
    const eight = Array.from({ length: 8 }, () => stream('usr_a', 8));
    expect(eight.map(lengthOf)).to.deep.equal(eight.map(() => 8 * MIB));
  });

  it('take no room for one that became too long by itself, nor for one that has no key', () => {
    expect(lengthOf(stream('usr_a', 9))).to.equal(null);
    const bare = new DeliveredEvents(null);
    bare.add('', PIECE);
    expect(bare.allBefore(PIECE)).to.equal('');
    const eight = Array.from({ length: 8 }, () => stream('usr_a', 8));
    expect(eight.map(lengthOf)).to.deep.equal(eight.map(() => 8 * MIB));
  });
});
