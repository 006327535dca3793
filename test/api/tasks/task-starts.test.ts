// Starts of workflows: a few at once of each user, none waited for in line, none longer than the caller may.
import { expect } from 'chai';
import { createTaskStarts } from '../../../api/tasks/task-starts.ts';
import type { TaskToRun } from '../../../domain/task-runs.ts';
import { until } from '../../support/until.ts';

const TASK: TaskToRun = {
  id: 'task_x',
  attempt: 1,
  mode: 'image',
  model: 'x',
  family: 'x',
  userId: 'user_x',
};
const ORIGIN = { requestId: 'x' };

/** A Temporal that acknowledges starts when the test says so. */
function createTemporal() {
  const open: ((isStarted: boolean) => void)[] = [];
  let asked = 0;
  return {
    startTaskWithin: () => {
      asked += 1;
      return new Promise<boolean>((resolve) => open.push(resolve));
    },
    answer: (isStarted: boolean) => open.shift()?.(isStarted),
    countAsked: () => asked,
  };
}

/** Creations of which so many wait, of whichever user. */
const creations = (waiting = 0) => ({ countWaiting: () => waiting });
const LONG_LINE = 100;

describe('starts of workflows', () => {
  it('are waited for until Temporal acknowledges them, or the caller may wait no longer', async () => {
    const temporal = createTemporal();
    const starts = createTaskStarts(temporal, creations());
    const started = starts.start(TASK, 10_000, ORIGIN);
    temporal.answer(true);
    expect(await started).to.equal('started');
    const failed = starts.start(TASK, 10_000, ORIGIN);
    temporal.answer(false);
    expect(await failed).to.equal('late');
    expect(await starts.start(TASK, 1, ORIGIN)).to.equal('late');
  });

  it('wait for others of their user without their callers, four under way at once', async () => {
    const temporal = createTemporal();
    const starts = createTaskStarts(temporal, creations());
    const first = Array.from({ length: 4 }, () => starts.start(TASK, 10_000, ORIGIN));
    for (let each = 0; each < 20; each += 1)
      expect(await starts.start(TASK, 10_000, ORIGIN)).to.equal('waiting');
    expect(temporal.countAsked()).to.equal(4);
    temporal.answer(true);
    expect(await first[0]).to.equal('started');
    await until('the next one is under way', async () => temporal.countAsked() === 5);
    const drained = starts.drain();
    await until('all were started', async () => {
      temporal.answer(true);
      return temporal.countAsked() === 24;
    });
    for (let each = 0; each < 4; each += 1) temporal.answer(true);
    await drained;
  });

  it('begin at once beside another user’s, and their answers are not waited for', async () => {
    const temporal = createTemporal();
    const starts = createTaskStarts(temporal, creations());
    for (let each = 0; each < 20; each += 1) void starts.start(TASK, 10_000, ORIGIN);
    expect(await starts.start({ ...TASK, userId: 'user_y' }, 10_000, ORIGIN)).to.equal('waiting');
    expect(temporal.countAsked()).to.equal(4 + 1);
  });

  it('of a user wait while a long line of this user’s creations does, and no other user’s', async () => {
    const temporal = createTemporal();
    const line = new Map([[TASK.userId, LONG_LINE]]);
    const starts = createTaskStarts(temporal, { countWaiting: (userId = '') => line.get(userId) ?? 0 });
    for (let each = 0; each < 3; each += 1)
      expect(await starts.start(TASK, 10_000, ORIGIN)).to.equal('waiting');
    void starts.start({ ...TASK, userId: 'user_y' }, 10_000, ORIGIN);
    expect(temporal.countAsked()).to.equal(1);
    line.clear();
    await until('they are started', async () => temporal.countAsked() === 1 + 3);
  });

  it('begin beside a line that does not end', async () => {
    const temporal = createTemporal();
    const starts = createTaskStarts(temporal, creations(LONG_LINE));
    expect(await starts.start(TASK, 10_000, ORIGIN)).to.equal('waiting');
    await until('it is started', async () => temporal.countAsked() === 1);
  });
});
