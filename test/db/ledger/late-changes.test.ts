// The check of the ledger beside a transaction that changes a task and takes its time to commit.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm } from '../../../db/database.ts';
import { checkAccounts } from '../../../db/ledger/checkpoints.ts';
import * as reservations from '../../../db/ledger/reservations.ts';
import { completeTask } from '../../../db/tasks/settlement.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const RULE = 'a completed task is charged once, the amount it shows';

describe('the check of the ledger, beside a change that commits late', () => {
  let test: TestDatabase;

  const em = () => forkEm(test.database);

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());

  it('finds what it broke, though steps have passed later changes meanwhile', async () => {
    const userId = await rows.createOwner(em(), 100n);
    const complete = async () => {
      const task = await rows.queueTask(em(), userId, 10n);
      await reservations.reserve(em(), task);
      await rows.begin(em(), task);
      await completeTask(em(), task, { outputs: [], outputText: null, amount: 10n, loss: 0n });
      return task.taskId;
    };
    const check = () => checkAccounts(em(), [userId], { rowsPerSlice: 2 });
    const late = await complete();
    while ((await check()).unfinished.length > 0);
    await em().transactional(async (tx) => {
      await tx.execute('set local session_replication_role = replica');
      await tx.execute(sql`
        update task set credits_charged = 9, changed_xid = pg_current_xact_id() where id = ${late}`);
      for (let n = 0; n < 4; n += 1) await complete();
      expect(await check()).to.deep.include({ violations: [], unfinished: [userId] });
    });
    const found: string[] = [];
    for (let isUnfinished = true; isUnfinished;) {
      const { violations, unfinished } = await check();
      found.push(...violations.map(({ rule }) => rule));
      isUnfinished = unfinished.length > 0;
    }
    expect(found).to.deep.equal([RULE]);
  });
});
