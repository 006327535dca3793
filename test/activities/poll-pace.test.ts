// How often a vendor is asked about a job.
import { expect } from 'chai';
import { pauseBeforeNextPoll } from '../../activities/poll-pace.ts';

const MIDDLE = 0.5;
const pause = (ageMs: number, refusals = 0, retryAfterMs: number | null = null): number =>
  pauseBeforeNextPoll({ ageMs, refusals, retryAfterMs }, MIDDLE);

describe('the pace at which a vendor is asked about a job', () => {
  it('is a tenth of the age of the job, between one and eight seconds', () => {
    expect([0, 9_000, 30_000, 60_000, 300_000, 86_400_000].map((ageMs) => pause(ageMs))).to.eql([
      1_000, 1_000, 3_000, 6_000, 8_000, 8_000,
    ]);
  });

  it('is spread by a fifth, so that jobs handed over at once are not asked for at once', () => {
    const ends = [0, 1].map((random) =>
      pauseBeforeNextPoll({ ageMs: 300_000, refusals: 0, retryAfterMs: null }, random),
    );
    expect(ends).to.eql([7_200, 8_800]);
  });

  it('is halved with each look that the vendor refuses, down to one a minute', () => {
    expect([1, 2, 3, 50].map((refusals) => pause(300_000, refusals))).to.eql([
      16_000, 32_000, 60_000, 60_000,
    ]);
  });

  it('obeys a vendor that says when to ask again, up to a minute', () => {
    expect([20_000, 3_600_000].map((retryAfterMs) => pause(0, 1, retryAfterMs))).to.eql([20_000, 60_000]);
  });
});
