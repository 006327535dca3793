// When jobs of a model usually end, by those that were seen ending.
import { expect } from 'chai';
import { createUsualEnds } from '../../activities/usual-ends.ts';

const seen = (seconds: number) => ({ unfinishedMs: seconds * 1000 - 500, finishedMs: seconds * 1000 });

describe('the usual ends of jobs', () => {
  it('are unknown until five jobs of the model have ended', () => {
    const ends = createUsualEnds();
    for (let count = 0; count < 4; count += 1) ends.note('one', seen(60));
    ends.note('another', seen(60));
    expect(ends.of('one')).to.equal(null);
    ends.note('one', seen(60));
    expect(ends.of('one')).to.eql({ fromMs: 59_500, untilMs: 60_000 });
    expect(ends.of('another')).to.equal(null);
  });

  it('leave out the earliest and the latest tenth', () => {
    const ends = createUsualEnds();
    for (const seconds of [1, 50, 51, 52, 53, 54, 55, 56, 57, 600]) ends.note('one', seen(seconds));
    expect(ends.of('one')).to.eql({ fromMs: 49_500, untilMs: 57_000 });
  });

  it('follow the newest forty', () => {
    const ends = createUsualEnds();
    for (let count = 0; count < 40; count += 1) ends.note('one', seen(60));
    for (let count = 0; count < 40; count += 1) ends.note('one', seen(30));
    expect(ends.of('one')).to.eql({ fromMs: 29_500, untilMs: 30_000 });
  });
});
