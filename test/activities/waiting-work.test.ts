// How often work asks again that found no place at its vendor.
import { expect } from 'chai';
import { WaitingWork } from '../../activities/waiting-work.ts';

const NOW = 1_000_000;

describe('work that found no place at its vendor', () => {
  let work: WaitingWork;

  beforeEach(() => {
    work = new WaitingWork();
  });

  const refuse = (count: number, nowMs = NOW, family = 'grok') =>
    Array.from({ length: count }, (_, index) => work.wait(family, `task-${index}`, nowMs));

  it('asks again after two seconds while little of it waits, also when it is refused again', () => {
    expect(new Set(refuse(40))).to.deep.equal(new Set([2_000]));
    expect(new Set(refuse(40))).to.deep.equal(new Set([2_000]));
  });

  it('asks no more than twenty times a second all in all, but each within half a minute', () => {
    expect(refuse(200).at(-1)).to.equal(10_000);
    expect(refuse(2_000).at(-1)).to.equal(30_000);
    expect(work.wait('kling', 'another', NOW), 'another family').to.equal(2_000);
  });

  it('asks more often when other work has found its place, or did not come back for a minute', () => {
    refuse(200);
    for (let index = 0; index < 150; index += 1) work.end('grok', `task-${index}`);
    expect(work.wait('grok', 'next', NOW)).to.equal(51 * 50);
    expect(work.wait('grok', 'late', NOW + 100_000)).to.equal(2_000);
  });
});
