// How often a vendor is asked about a job.
import { expect } from 'chai';
import { pauseBeforeNextPoll, type Polled } from '../../activities/poll-pace.ts';

const MIDDLE = 0.5;
const MINUTE = 60_000;
const pause = (ageMs: number, others: Partial<Polled> = {}, random = MIDDLE): number =>
  pauseBeforeNextPoll({ ageMs, refusals: 0, retryAfterMs: null, usualDuration: null, ...others }, random);

/** Ages at which a job is looked at until `untilMs`. */
function looks(untilMs: number, usualDuration: Polled['usualDuration']): number[] {
  const ages = [0];
  for (let ageMs = 0; ageMs < untilMs; ageMs += pause(ageMs, { usualDuration })) ages.push(ageMs);
  return ages;
}

describe('the pace at which a vendor is asked about a job', () => {
  it('is a tenth of the age of the job, between one and eight seconds', () => {
    expect([0, 9_000, 30_000, 60_000, 300_000, 86_400_000].map((ageMs) => pause(ageMs))).to.eql([
      1_000, 1_000, 3_000, 6_000, 8_000, 8_000,
    ]);
  });

  it('is spread by a fifth, so that jobs handed over at once are not asked for at once', () => {
    expect([0, 1].map((random) => pause(300_000, {}, random))).to.eql([7_200, 8_800]);
  });

  it('is halved with each look that the vendor refuses, down to one a minute', () => {
    expect([1, 2, 3, 50].map((refusals) => pause(300_000, { refusals }))).to.eql([
      16_000, 32_000, 60_000, 60_000,
    ]);
  });

  it('obeys a vendor that says when to ask again, up to a minute', () => {
    const refused = (retryAfterMs: number) => pause(0, { refusals: 1, retryAfterMs });
    expect([20_000, 3_600_000].map(refused)).to.eql([20_000, 60_000]);
  });
});

describe('the pace where it is known when jobs of the model usually end', () => {
  const usualDuration = { fromMs: 5 * MINUTE, untilMs: 5 * MINUTE + 5_000 };

  it('is slower before, up to twelve seconds, and never jumps over that time', () => {
    const ages = [10_000, 2 * MINUTE, 4 * MINUTE, 5 * MINUTE - 7_000, 5 * MINUTE - 500];
    expect(ages.map((ageMs) => pause(ageMs, { usualDuration }))).to.eql([
      1_000, 12_000, 12_000, 7_000, 2_000,
    ]);
  });

  it('is two seconds while they end, and as if nothing was known afterwards', () => {
    const ages = [5 * MINUTE, 5 * MINUTE + 5_000, 5 * MINUTE + 5_001];
    expect(ages.map((ageMs) => pause(ageMs, { usualDuration }))).to.eql([2_000, 2_000, 8_000]);
  });

  it('is as if nothing was known where their times differ much', () => {
    const wide = { fromMs: MINUTE, untilMs: 4 * MINUTE };
    expect([MINUTE, 3 * MINUTE].map((ageMs) => pause(ageMs, { usualDuration: wide }))).to.eql([6_000, 8_000]);
  });

  it('asks a vendor no more often in all', () => {
    const spans = [20_000, MINUTE, 2 * MINUTE, 5 * MINUTE, 20 * MINUTE];
    for (const endMs of spans)
      for (const widthMs of [0, 10_000, MINUTE]) {
        const known = looks(endMs, { fromMs: endMs - widthMs / 2, untilMs: endMs + widthMs / 2 });
        expect(known.length, `${endMs} ± ${widthMs}`).to.be.at.most(looks(endMs, null).length + 4);
      }
  });
});
