// Intervals of any length put together of spans of UTC: each moment counts in its own interval, once.
import { expect } from 'chai';
import fc from 'fast-check';
import { divide, type Piece } from '../../../db/usage/pieces.ts';

const QUARTER_MS = 15 * 60_000;
const BEGAN_MS = Date.UTC(2024, 1, 27); // before a leap day
const HOUR_MS = 4 * QUARTER_MS;
const DAY_MS = 24 * HOUR_MS;
const LENGTHS_MS = { quarter: QUARTER_MS, hour: HOUR_MS, six_hours: 6 * HOUR_MS, day: DAY_MS };

const at = (quarters: number): Date => new Date(BEGAN_MS + quarters * QUARTER_MS);
const boundaries = fc
  .uniqueArray(fc.integer({ min: 0, max: 10_000 }), { minLength: 2, maxLength: 6 })
  .map((quarters) => quarters.sort((one, other) => one - other).map(at));

describe('the pieces of intervals', () => {
  it('count every quarter of an hour in the interval that it lies in, and nowhere else', () => {
    fc.assert(
      fc.property(boundaries, (moments) => {
        const pieces = divide(moments);
        for (let quarter = 0; quarter < 10_000; quarter += 13) {
          const ms = at(quarter).getTime();
          const counts = countAt(pieces, ms);
          const own = moments.findLastIndex((moment) => moment.getTime() <= ms);
          const isWithin = own >= 0 && own < moments.length - 1;
          const wrong = [...counts].filter(([number, count]) => count !== (number === own ? 1 : 0));
          if (wrong.length > 0 || counts.has(own) !== isWithin)
            expect.fail(`${at(quarter).toISOString()} counts ${JSON.stringify([...counts])}, not in ${own}`);
        }
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it('begin and end where their spans do', () => {
    fc.assert(
      fc.property(boundaries, (moments) => {
        for (const { span, from, to } of divide(moments))
          for (const end of [from, to]) {
            if (span === 'month') expect([end.getUTCDate(), end.getTime() % DAY_MS]).to.deep.equal([1, 0]);
            else expect(end.getTime() % LENGTHS_MS[span]).to.equal(0);
          }
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  it('of days that begin at 18:30 are a day, six hours in one sum, and two quarters each', () => {
    const days = Array.from({ length: 31 }, (_, day) => new Date(Date.UTC(2025, 4, day + 1, 18, 30)));
    const read = { quarter: 0, hour: 0, six_hours: 0, day: 0, month: 0 };
    const lengths = { ...LENGTHS_MS, month: 31 * DAY_MS };
    for (const { span, from, to } of divide(days))
      read[span] += Math.round((to.getTime() - from.getTime()) / lengths[span]);
    expect(read.day).to.equal(30);
    expect(read.six_hours / days.length).to.be.at.most(1);
    expect(read.hour).to.equal(0);
    expect(read.quarter / days.length).to.be.at.most(2);
  });

  it('of a month in New York is the month of UTC with some hours at both ends', () => {
    const pieces = divide([new Date('2025-05-01T04:00Z'), new Date('2025-06-01T04:00Z')]);
    expect(pieces.map(({ span, addedTo }) => `${span} ${addedTo ?? 'taken'}`).toSorted()).to.deep.equal([
      'hour 0',
      'hour taken',
      'month 0',
      'six_hours 0',
      'six_hours taken',
    ]);
  });
});

/** How often a moment counts in each interval: what takes it away counts against it. */
function countAt(pieces: readonly Piece[], ms: number): Map<number, number> {
  const counts = new Map<number, number>();
  const count = (number: number | null, by: number): void => {
    if (number !== null) counts.set(number, (counts.get(number) ?? 0) + by);
  };
  for (const { from, to, addedTo, takenFrom } of pieces)
    if (from.getTime() <= ms && ms < to.getTime()) {
      count(addedTo, 1);
      count(takenFrom, -1);
    }
  return counts;
}
