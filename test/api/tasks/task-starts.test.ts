// Starts of workflows: none is waited for, a few at once of each user, and what is not acknowledged is told.
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createTaskStarts, type TaskStarts } from '../../../api/tasks/task-starts.ts';
import type { TaskToRun } from '../../../domain/task-runs.ts';
import { createLog } from '../../../log.ts';
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
const logged: string[] = [];
const LOG = createLog({ process: 'test', level: 'warn' }, { write: (line) => void logged.push(line) });

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

type Temporal = ReturnType<typeof createTemporal>;

/** Starts beside creations of which so many wait, of whichever user. */
function startsOf(workflows: Temporal, countWaiting: (userId?: string) => number = () => 0): TaskStarts {
  return createTaskStarts({ workflows, creationTurns: { countWaiting }, log: LOG });
}

const LONG_LINE = 100;

describe('starts of workflows', () => {
  it('are made after what the caller is told, and those that Temporal did not acknowledge are logged', async () => {
    const temporal = createTemporal();
    const starts = startsOf(temporal);
    starts.start(TASK, ORIGIN);
    expect(temporal.countAsked()).to.equal(0);
    await until('it is asked for', async () => temporal.countAsked() === 1);
    temporal.answer(false);
    await starts.drain(60_000);
    expect(logged.splice(0).join('')).to.match(/task_x.*the sweeper will start it/);
  });

  it('wait for others of their user, four under way at once', async () => {
    const temporal = createTemporal();
    const starts = startsOf(temporal);
    for (let each = 0; each < 24; each += 1) starts.start(TASK, ORIGIN);
    await until('four are under way', async () => temporal.countAsked() === 4);
    for (let round = 0; round < 3; round += 1) await setImmediate();
    expect(temporal.countAsked()).to.equal(4);
    temporal.answer(true);
    await until('the next one is under way', async () => temporal.countAsked() === 5);
    const drained = starts.drain(60_000);
    await until('all were started', async () => {
      temporal.answer(true);
      return temporal.countAsked() === 24;
    });
    for (let each = 0; each < 4; each += 1) temporal.answer(true);
    await drained;
  });

  it('begin at once beside another user’s', async () => {
    const temporal = createTemporal();
    const starts = startsOf(temporal);
    for (let each = 0; each < 20; each += 1) starts.start(TASK, ORIGIN);
    starts.start({ ...TASK, userId: 'user_y' }, ORIGIN);
    await until('both users’ are under way', async () => temporal.countAsked() === 4 + 1);
  });

  it('of a user wait while a long line of this user’s creations does, and no other user’s', async () => {
    const temporal = createTemporal();
    const line = new Map([[TASK.userId, LONG_LINE]]);
    const starts = startsOf(temporal, (userId = '') => line.get(userId) ?? 0);
    for (let each = 0; each < 3; each += 1) starts.start(TASK, ORIGIN);
    starts.start({ ...TASK, userId: 'user_y' }, ORIGIN);
    await until('the other user’s is under way', async () => temporal.countAsked() === 1);
    line.clear();
    await until('they are started', async () => temporal.countAsked() === 1 + 3);
  });

  it('that wait when the process stops are left to the sweeper, and those under way are awaited', async () => {
    const temporal = createTemporal();
    const starts = startsOf(temporal);
    for (let each = 0; each < 6; each += 1) starts.start(TASK, ORIGIN);
    await until('four are under way', async () => temporal.countAsked() === 4);
    const drained = starts.drain(1);
    await until('two are left', async () => logged.length === 2);
    for (let each = 0; each < 4; each += 1) temporal.answer(true);
    await drained;
    expect(temporal.countAsked()).to.equal(4);
    expect(logged.splice(0).join('')).to.match(/the sweeper will start it/);
  });

  it('begin beside a line that does not end', async () => {
    const temporal = createTemporal();
    startsOf(temporal, () => LONG_LINE).start(TASK, ORIGIN);
    await until('it is started', async () => temporal.countAsked() === 1);
  });
});
