// What is done for many open tasks in a row, some of which contradict their accounts.
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forEachTask } from '../../activities/open-tasks.ts';
import { forkEm } from '../../db/database.ts';
import type { Task } from '../../db/entities/tasks.ts';
import { failTask } from '../../db/tasks/settlement.ts';
import { findTask } from '../../db/tasks/tasks.ts';
import { createLog } from '../../log.ts';
import * as rows from '../support/rows.ts';
import { createDatabase, type TestDatabase } from '../support/servers/database.ts';

const CREDITS = 100n;
const ESTIMATE = 1n;
const FAILURE = { code: 'internal_error', message: 'The task failed.' } as const;

describe('a step for each of many open tasks', () => {
  let test: TestDatabase;
  let logged: string;

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());
  beforeEach(() => {
    logged = '';
  });

  const em = () => forkEm(test.database);
  const log = createLog({ process: 'test', level: 'warn' }, { write: (line: string) => (logged += line) });
  const end = async ({ id, attempt }: Task) => void (await failTask(em(), { taskId: id, attempt }, FAILURE));
  const endOrBreak = (isBroken: (task: Task) => boolean) => async (task: Task) => {
    if (isBroken(task)) throw new Error('the connection broke');
    await end(task);
  };
  const statusOf = async ({ id }: Task) => (await findTask(em(), id))?.status;

  it('reaches those after many that contradict their accounts, each of which is told', async () => {
    const refused = await queueTasks(4, (id) => sql`update account set queued = 0 where user_id = ${id}`);
    const unreserved = await queueTasks(
      4,
      (id) => sql`update task set admitted_at = now() where user_id = ${id}`,
    );
    const [sound] = await queueTasks(1);
    if (!sound) throw new Error('no task was queued');
    expect(await forEachTask({ log }, [...refused, ...unreserved, sound], end)).to.equal(8);
    expect(await statusOf(sound)).to.equal('failed');
    for (const task of [...refused, ...unreserved]) {
      expect(await statusOf(task)).to.equal('queued');
      expect(logged).to.match(new RegExp(`${task.id}.*a task could not be helped`));
    }
  });

  it('ends at the third failure in a row that no task’s own data explain', async () => {
    const tasks = await queueTasks(4);
    const [last] = tasks.slice(-1);
    if (!last) throw new Error('no task was queued');
    const outcome = await forEachTask(
      { log },
      tasks,
      endOrBreak((task) => task !== last),
    ).catch(String);
    expect(outcome).to.equal('Error: the connection broke');
    expect(await statusOf(last)).to.equal('queued');
  });

  it('counts failures as in a row although tasks that contradict their accounts stand between them', async () => {
    const refused = await queueTasks(2, (id) => sql`update account set queued = 0 where user_id = ${id}`);
    const [first, second, third, last] = await queueTasks(4);
    const [one, other] = refused;
    if (!first || !second || !third || !last || !one || !other) throw new Error('a task is missing');
    const isBroken = (task: Task) => task !== last && !refused.includes(task);
    const mixed = [first, one, second, other, third, last];
    const outcome = await forEachTask({ log }, mixed, endOrBreak(isBroken)).catch(String);
    expect(outcome).to.equal('Error: the connection broke');
    expect(await statusOf(last)).to.equal('queued');
  });

  it('begins to count anew after a task that was helped', async () => {
    const tasks = await queueTasks(5);
    const isBroken = (task: Task) => task !== tasks[2];
    expect(await forEachTask({ log }, tasks, endOrBreak(isBroken))).to.equal(4);
  });

  /** Queues tasks of a new user, and then changes what the database holds of that user. */
  async function queueTasks(count: number, change?: (userId: string) => RawQueryFragment): Promise<Task[]> {
    const userId = await rows.createOwner(em(), CREDITS);
    const tasks: Task[] = [];
    for (let queued = 0; queued < count; queued += 1) {
      const { taskId } = await rows.queueTask(em(), userId, ESTIMATE);
      const task = await findTask(em(), taskId);
      if (task) tasks.push(task);
    }
    if (change) await em().execute(change(userId));
    return tasks;
  }
});
