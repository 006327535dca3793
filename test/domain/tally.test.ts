// Sums by name.
import { expect } from 'chai';
import { Tally } from '../../domain/tally.ts';

describe('a tally', () => {
  it('sums by name, and knows no name as zero', () => {
    const tally = new Tally();
    tally.add('one', 3);
    tally.add('other', 1);
    tally.add('one', -2);
    expect([tally.of('one'), tally.of('other'), tally.of('none')]).to.deep.equal([1, 1, 0]);
  });

  it('knows a name that came to zero as zero, and sums it anew', () => {
    const tally = new Tally();
    tally.add('gone', 1);
    tally.add('gone', -1);
    expect(tally.of('gone')).to.equal(0);
    tally.add('gone', 2);
    expect(tally.of('gone')).to.equal(2);
  });
});
