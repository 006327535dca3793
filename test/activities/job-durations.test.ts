// How long jobs of a model usually take, by those that were seen ending.
import { expect } from 'chai';
import { createJobDurations } from '../../activities/job-durations.ts';

const seen = (seconds: number) => ({ unfinishedMs: seconds * 1000 - 500, finishedMs: seconds * 1000 });

describe('the usual duration of jobs', () => {
  it('is unknown until five jobs of the model have ended', () => {
    const durations = createJobDurations();
    for (let count = 0; count < 4; count += 1) durations.note('one', seen(60));
    durations.note('another', seen(60));
    expect(durations.usualOf('one')).to.equal(null);
    durations.note('one', seen(60));
    expect(durations.usualOf('one')).to.eql({ fromMs: 59_500, untilMs: 60_000 });
    expect(durations.usualOf('another')).to.equal(null);
  });

  it('leaves out the earliest and the latest tenth', () => {
    const durations = createJobDurations();
    for (const seconds of [1, 50, 51, 52, 53, 54, 55, 56, 57, 600]) durations.note('one', seen(seconds));
    expect(durations.usualOf('one')).to.eql({ fromMs: 49_500, untilMs: 57_000 });
  });

  it('follows the newest forty', () => {
    const durations = createJobDurations();
    for (let count = 0; count < 40; count += 1) durations.note('one', seen(60));
    for (let count = 0; count < 40; count += 1) durations.note('one', seen(30));
    expect(durations.usualOf('one')).to.eql({ fromMs: 29_500, untilMs: 30_000 });
  });
});
