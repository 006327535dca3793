// A soak tells growth from rest: memory, open files, queues and loop delay of the process that lived longest.
import { expect } from 'chai';
import { judge, readSample, type Sample, type Thresholds } from '../../../bench/soak/watch.ts';

const THRESHOLDS: Thresholds = {
  ...{ warmUpSeconds: 10, memoryGrowth: 0.15, memoryGrowthMb: 20, descriptorsGrowth: 20 },
  ...{ queueGrowth: 30, loopDelayMs: 250, mustJudge: true },
};
const METRICS = [
  ...['process_start_time_seconds 1700000000', 'process_resident_memory_bytes 209715200'],
  ...['process_open_fds 61', 'nodejs_eventloop_lag_p99_seconds 0.0125', 'svc_database_pool_waiters 2'],
  ...['svc_tasks_open{status="queued"} 3', 'svc_tasks_open{status="in_progress"} 4', ''],
].join('\n');

describe('the watch of a soak', () => {
  it('reads memory, open files, queues and loop delay from the metrics of a process', () => {
    const sample = readSample('api', METRICS);
    expect(sample).to.include({ part: 'api', beganAt: 1_700_000_000, memoryMb: 200, descriptors: 61 });
    expect(sample).to.include({ queued: 9, loopDelayMs: 13 });
  });

  it('takes no sample of a process that is away or hangs', () => {
    expect(readSample('api', null)).to.equal(null);
  });

  it('passes a process that stays as it is', () => {
    expect(judgeOne(grow({}))).to.deep.equal([]);
  });

  it('finds memory, open files and queues that grow, and a loop that is late', () => {
    expect(judgeOne(grow({ memoryMb: 5 }))[0]).to.match(/^the memory of the api grew from \d+ to \d+ MB$/);
    expect(judgeOne(grow({ descriptors: 2 }))[0]).to.match(/^the open files of the api grew from/);
    expect(judgeOne(grow({ queued: 3 }))[0]).to.match(/^the queues of the api grew from/);
    expect(judgeOne(grow({ loopDelayMs: 20 }))[0]).to.match(/^the event loop of the api is late by \d+ ms$/);
  });

  it('judges the process that lived longest, not the one after a restart', () => {
    const young = grow({ memoryMb: 50 }, 2).slice(0, 12);
    expect(judgeOne([...grow({}), ...young])).to.deep.equal([]);
  });

  it('says so when no process lived long enough, where each has to', () => {
    const brief = grow({}).slice(0, 12);
    expect(judgeOne(brief)).to.deep.equal(['no process of the api lived long enough to be judged']);
    expect(judge(brief, ['api'], { ...THRESHOLDS, mustJudge: false })[0]?.problems).to.deep.equal([]);
  });
});

function judgeOne(samples: readonly Sample[]): readonly string[] {
  return judge(samples, ['api'], THRESHOLDS).flatMap(({ problems }) => problems);
}

/** A minute of one process, in which each named figure grows by that much from sample to sample. */
function grow(by: Partial<Sample>, beganAt = 1): Sample[] {
  const { memoryMb = 0, descriptors = 0, queued = 0, loopDelayMs = 0 } = by;
  return Array.from({ length: 30 }, (_, index) => ({
    ...{ part: 'api', beganAt, ageSeconds: index * 2 },
    memoryMb: 200 + memoryMb * index,
    descriptors: 60 + descriptors * index,
    queued: 5 + queued * index,
    loopDelayMs: 20 + loopDelayMs * index,
  }));
}
