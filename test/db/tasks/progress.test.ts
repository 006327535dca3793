// Progress of many tasks in one statement: it only rises, only for attempts in progress, and waits for none.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm } from '../../../db/database.ts';
import { reserve } from '../../../db/ledger/reservations.ts';
import { findTask, recordProgress } from '../../../db/tasks/tasks.ts';
import type { TaskAttempt } from '../../../domain/tasks.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

describe('progress', () => {
  let test: TestDatabase;
  let userId: string;

  before(async () => {
    test = await createDatabase();
    userId = await rows.createOwner(em(), 0n);
  });
  after(() => test.drop());

  const em = () => forkEm(test.database);
  const progressOf = async (tasks: readonly TaskAttempt[]) =>
    Promise.all(tasks.map(async ({ taskId }) => (await findTask(em(), taskId))?.progress));

  async function startTask(): Promise<TaskAttempt> {
    const task = await rows.queueTask(em(), userId, 0n);
    await reserve(em(), task);
    await rows.begin(em(), task);
    return task;
  }

  it('rises for each of many tasks, and never falls', async () => {
    const tasks = [await startTask(), await startTask(), await startTask()];
    await recordProgress(
      em(),
      tasks.map((task, index) => ({ task, percent: 10 * (index + 1) })),
    );
    expect(await progressOf(tasks)).to.eql([10, 20, 30]);
    await recordProgress(
      em(),
      tasks.map((task) => ({ task, percent: 20 })),
    );
    expect(await progressOf(tasks)).to.eql([20, 20, 30]);
  });

  it('is written for the attempt that it belongs to, while that is in progress', async () => {
    const [running, queued] = [await startTask(), await rows.queueTask(em(), userId, 0n)];
    await recordProgress(em(), [
      { task: { ...running, attempt: 2 }, percent: 10 },
      { task: queued, percent: 10 },
    ]);
    expect(await progressOf([running, queued])).to.eql([0, 0]);
  });

  it('leaves out a task that is locked, and waits for no lock', async () => {
    const [locked, free] = [await startTask(), await startTask()];
    await em().transactional(async (tx) => {
      await tx.execute(sql`select from task where id = ${locked.taskId} for update`);
      await recordProgress(
        em(),
        [locked, free].map((task) => ({ task, percent: 10 })),
      );
      expect(await progressOf([locked, free])).to.eql([0, 10]);
    });
  });
});
