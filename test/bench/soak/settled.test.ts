// The end of a soak: orders and tasks are the same number, and each task was final soon after a recovery.
import { expect } from 'chai';
import { checkSettled, type Ended } from '../../../bench/soak/settled.ts';
import { forkEm } from '../../../db/database.ts';
import { cancelUnreserved } from '../../../db/tasks/settlement.ts';
import { createOwner, queueTask } from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const CREDITS = 10_000_000n;

describe('the end of a soak', () => {
  let test: TestDatabase;
  let userId: string;
  /** Ids of two tasks that have ended. */
  let ids: string[];

  beforeEach(async () => {
    test = await createDatabase();
    const em = forkEm(test.database);
    userId = await createOwner(em, CREDITS);
    ids = [];
    for (let count = 0; count < 2; count += 1) {
      const task = await queueTask(em, userId, 1n);
      await cancelUnreserved(em, userId, task);
      ids.push(task.taskId);
    }
  });

  afterEach(() => test.drop());

  it('passes when every order became one task, and one of unknown outcome became none', async () => {
    const ended = await check({ accepted: ids, unsure: 1 });
    expect(ended).to.include({ lost: 0, doubled: 0, violations: 0 });
    expect(ended.problems).to.deep.equal([]);
  });

  it('finds an accepted task that is not there', async () => {
    const { lost, problems } = await check({ accepted: [...ids, 'task_none'] });
    expect(lost).to.equal(1);
    expect(problems).to.deep.equal(['1 tasks were answered with 202 and are not there']);
  });

  it('finds a task beyond those of the orders, unless one order is of unknown outcome', async () => {
    expect(await check({ accepted: ids.slice(1) })).to.include({ doubled: 1 });
    expect(await check({ accepted: ids.slice(1), unsure: 1 })).to.include({ doubled: 0 });
  });

  it('finds two orders that were given one task', async () => {
    const { doubled, problems } = await check({ accepted: ids, answered: 3 });
    expect(doubled).to.equal(1);
    expect(problems[0]).to.match(/^3 orders, and 0 of unknown outcome, became 2 tasks$/);
  });

  it('finds what is still open', async () => {
    const open = await queueTask(forkEm(test.database), userId, 1n);
    const { settledAfterSeconds, problems } = await check({ accepted: [...ids, open.taskId] });
    expect(settledAfterSeconds).to.equal(null);
    expect(problems[0]).to.match(/^after 0 s .*"tasks":1/);
  });

  it('finds a task that was open for more than a minute, unless it was disturbed meanwhile', async () => {
    const [id = ''] = ids;
    const em = forkEm(test.database);
    await em.execute(
      `update task_event set at = at - interval '90 seconds' where task_id = ? and event = 'created'`,
      [id],
    );
    const { longestOpenSeconds, problems } = await check({ accepted: ids });
    expect(longestOpenSeconds).to.be.within(90, 95);
    expect(problems[0]).to.match(new RegExp(`^${id} was open for 9\\d s`));
    const now = Date.now();
    const disturbed = await check({ accepted: ids }, [{ from: now - 80_000, until: now - 30_000 }]);
    expect(disturbed.problems).to.deep.equal([]);
  });

  function check(
    {
      accepted,
      answered = accepted.length,
      unsure = 0,
    }: { accepted: string[]; answered?: number; unsure?: number },
    disturbances: { from: number; until: number }[] = [],
  ): Promise<Ended> {
    const ordered = { accepted: new Set(accepted), answered, unsure };
    return checkSettled(test.database, { ordered, userIds: [userId], disturbances }, 0);
  }
});
