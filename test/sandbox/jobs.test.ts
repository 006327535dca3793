// Jobs, whose state follows from the clock alone.

import { expect } from 'chai';
import { readDirectives } from '../../sandbox/directives.ts';
import { type Job, type JobPlan, Jobs } from '../../sandbox/jobs.ts';

describe('sandbox jobs', () => {
  let nowMs = 0;
  const jobs = new Jobs(() => nowMs);

  function newJob(outcome: JobPlan['outcome']): Job {
    nowMs = 1_000_000;
    const reason = 'internal';
    const orders = { outcome, reason, text: 'plain', usage: 'honest', deliver: null } as const;
    const directives = readDirectives('A fox');
    const ordered = { model: 'fox-1' };
    return jobs.create({
      ...orders,
      id: outcome,
      vendor: 'test',
      prompt: 'A fox',
      directives,
      seconds: 10,
      ordered,
      consumption: {},
    });
  }

  it('wait, run and end as time passes', () => {
    const job = newJob('succeed');
    const states = [0, 4_999, 5_000, 9_999, 10_000, 99_000].map((elapsedMs) => {
      nowMs = 1_000_000 + elapsedMs;
      return jobs.stateOf(job);
    });
    expect(states).to.eql([
      { phase: 'queued', progress: 0 },
      { phase: 'queued', progress: 49 },
      { phase: 'running', progress: 50 },
      { phase: 'running', progress: 99 },
      { phase: 'succeeded', progress: 100 },
      { phase: 'succeeded', progress: 100 },
    ]);
  });

  it('never end when they are stuck', () => {
    const job = newJob('stuck');
    nowMs += 1_000_000_000;
    expect(jobs.stateOf(job)).to.eql({ phase: 'running', progress: 99 });
  });

  it('stay cancelled once they are cancelled', () => {
    const job = newJob('succeed');
    jobs.cancel(job);
    nowMs += 1_000_000;
    expect(jobs.stateOf(job).phase).to.equal('cancelled');
  });

  it('are shown without their prompts', () => {
    newJob('fail');
    const [shown] = jobs.search('fox').slice(-1);
    expect(shown).to.include({ id: 'fail', vendor: 'test', state: 'queued' });
    expect(JSON.stringify(shown)).not.to.contain('A fox');
    expect(jobs.search('wolf')).to.eql([]);
  });

  it('are forgotten from the oldest on when there are too many', () => {
    const few = new Jobs(() => nowMs, 2);
    for (const id of ['1', '2', '3']) {
      few.create({ ...newJob('succeed'), id });
      few.find('test', '1');
    }
    expect(few.listOf('test').map(({ id }) => id)).to.eql(['3', '2']);
    expect(few.find('test', '1')).to.equal(null);
  });
});
