// How long a task was open counts from the recovery, and not while something disturbs the system.
import { expect } from 'chai';
import { findLongestOpen } from '../../../bench/soak/recovery.ts';

const NOW = 1_000_000;
/** Two disturbances, with 90 s of quiet between them. */
const DISTURBANCES = [
  { from: 100_000, until: 110_000 },
  { from: 200_000, until: 230_000 },
];

describe('the longest time that a task is open after a recovery', () => {
  it('is nothing without tasks, and the whole life of one in quiet times', () => {
    expect(findLongestOpen([], DISTURBANCES, NOW)).to.equal(null);
    expect(measure(120_000, 125_000)).to.equal(5);
    expect(measure(10_000, 40_000)).to.equal(30);
  });

  it('begins with the recovery for a task that was accepted before it', () => {
    expect(measure(99_000, 150_000)).to.equal(40);
  });

  it('ends with the next disturbance, and begins anew after it', () => {
    expect(measure(150_000, 235_000)).to.equal(50);
    expect(measure(195_000, 250_000)).to.equal(20);
  });

  it('is nothing for a life within a disturbance', () => {
    expect(findLongestOpen([{ taskId: 'a', from: 101_000, until: 105_000 }], DISTURBANCES, NOW)).to.equal(
      null,
    );
  });

  it('goes on to this moment for a task that is still open, and names the one that was open longest', () => {
    const lives = [
      { taskId: 'a', from: 231_000, until: 240_000 },
      { taskId: 'b', from: 900_000, until: null },
    ];
    expect(findLongestOpen(lives, DISTURBANCES, NOW)).to.deep.equal({ taskId: 'b', seconds: 100 });
  });
});

function measure(from: number, until: number): number | undefined {
  return findLongestOpen([{ taskId: 'a', from, until }], DISTURBANCES, NOW)?.seconds;
}
