// Refunds that an operator gives while another one is given.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { COMMAND_LINE } from '../../../db/audit-log.ts';
import { forkEm } from '../../../db/database.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { refundTask } from '../../../db/ledger/refunds.ts';
import * as reservations from '../../../db/ledger/reservations.ts';
import { completeTask } from '../../../db/tasks/settlement.ts';
import { untilWaitingForLocks } from '../../support/lock-waits.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

describe('a refund of all that is left', () => {
  let test: TestDatabase;

  const em = () => forkEm(test.database);

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());

  it('gives an operator what another refund leaves that was made at the same moment', async () => {
    const userId = await rows.createOwner(em(), 10n);
    const task = await rows.queueTask(em(), userId, 10n);
    await reservations.reserve(em(), task);
    await rows.begin(em(), task);
    await completeTask(em(), task, { outputs: [], outputText: null, amount: 10n, loss: 0n });
    const { taskId } = task;
    const [all] = await em().transactional(async (tx) => {
      await tx.execute(sql`select from account where user_id = ${userId} for update`);
      const waiting = refundTask(em(), COMMAND_LINE, { taskId, credits: null, note: 'All of it' });
      await untilWaitingForLocks(em(), 1);
      const part = await refundTask(tx, COMMAND_LINE, { taskId, credits: 4n, note: 'A part' });
      expect(part).to.include({ kind: 'refunded', credits: 4n });
      return [waiting] as const;
    });
    expect(await all).to.include({ kind: 'refunded', credits: 6n });
    expect(await findViolations(em())).to.deep.equal([]);
  });
});
