// Starts of workflows: a few at once, none waited for in line, none for longer than the caller may wait.
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

describe('starts of workflows', () => {
  it('are waited for until Temporal acknowledges them, or the caller may wait no longer', async () => {
    const temporal = createTemporal();
    const starts = createTaskStarts(temporal, () => false);
    const started = starts.start(TASK, 10_000, ORIGIN);
    temporal.answer(true);
    expect(await started).to.equal('started');
    const failed = starts.start(TASK, 10_000, ORIGIN);
    temporal.answer(false);
    expect(await failed).to.equal('late');
    expect(await starts.start(TASK, 1, ORIGIN)).to.equal('late');
  });

  it('wait for others without their callers, fewer at once while creations wait', async () => {
    const temporal = createTemporal();
    let doCreationsWait = true;
    const starts = createTaskStarts(temporal, () => doCreationsWait);
    const first = [starts.start(TASK, 10_000, ORIGIN), starts.start(TASK, 10_000, ORIGIN)];
    for (let each = 0; each < 30; each += 1)
      expect(await starts.start(TASK, 10_000, ORIGIN)).to.equal('waiting');
    expect(temporal.countAsked()).to.equal(2);
    doCreationsWait = false;
    temporal.answer(true);
    expect(await first[0]).to.equal('started');
    await until('sixteen are under way', async () => temporal.countAsked() === 1 + 16);
    const drained = starts.drain();
    await until('all were started', async () => {
      temporal.answer(true);
      return temporal.countAsked() === 32;
    });
    for (let each = 0; each < 16; each += 1) temporal.answer(true);
    await drained;
  });
});
