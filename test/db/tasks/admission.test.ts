// The first step of an attempt: its reservation and its slot, in one statement that is safe to repeat.
import { expect } from 'chai';
import { forkEm } from '../../../db/database.ts';
import { AccountEntity } from '../../../db/entities/ledger.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { admitTask } from '../../../db/tasks/admission.ts';
import { cancelUnreserved } from '../../../db/tasks/settlement.ts';
import { findTask, listEvents } from '../../../db/tasks/tasks.ts';
import { freezeAccount } from '../../support/accounts.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const CREDITS = 100n;
const ESTIMATE = 10n;

describe('the admission of a task', () => {
  let test: TestDatabase;
  let userId: string;

  before(async () => {
    test = await createDatabase();
  });
  after(async () => {
    expect(await findViolations(em())).to.eql([]);
    await test.drop();
  });
  beforeEach(async () => {
    userId = await rows.createOwner(em(), CREDITS);
  });

  const em = () => forkEm(test.database);
  const queue = () => rows.queueTask(em(), userId, ESTIMATE);
  const counts = async () => {
    const { earmarked, reserved, queued, running } = await em().findOneOrFail(AccountEntity, { userId });
    return { earmarked, reserved, queued, running };
  };

  it('reserves and begins it, once in ten parallel tries, and each of them says so', async () => {
    const task = await queue();
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => admitTask(em(), task, 5)));
    expect(verdicts).to.have.length(10);
    for (const verdict of verdicts) expect(verdict).to.eql({ kind: 'reserved', status: 'in_progress' });
    expect(await counts()).to.eql({ earmarked: 0n, reserved: ESTIMATE, queued: 0, running: 1 });
    const events = (await listEvents(em(), task.taskId)).map(({ event }) => event);
    expect(events).to.eql(['created', 'reserved', 'started']);
  });

  it('reserves what finds no slot, and begins it when there is one', async () => {
    const [first, second] = [await queue(), await queue()];
    await admitTask(em(), first, 1);
    const queued = { kind: 'reserved', status: 'queued' };
    expect([await admitTask(em(), second, 1), await admitTask(em(), second, 1)]).to.eql([queued, queued]);
    expect(await counts()).to.eql({ earmarked: 0n, reserved: 2n * ESTIMATE, queued: 1, running: 1 });
    expect(await admitTask(em(), second, 2)).to.eql({ kind: 'reserved', status: 'in_progress' });
  });

  it('refuses what may not spend, reserves nothing and begins nothing', async () => {
    const task = await queue();
    await freezeAccount(em(), userId);
    expect(await admitTask(em(), task, 5)).to.eql({ kind: 'refused', reason: 'account_disabled' });
    expect(await counts()).to.eql({ earmarked: ESTIMATE, reserved: 0n, queued: 1, running: 0 });
    expect(await findTask(em(), task.taskId)).to.include({ status: 'queued', admittedAt: null });
  });

  it('says that there is nothing to do for a task that was cancelled, and for another attempt', async () => {
    const [cancelled, running] = [await queue(), await queue()];
    await cancelUnreserved(em(), userId, cancelled);
    const nothing = { kind: 'not_claimable' };
    expect(await admitTask(em(), cancelled, 5)).to.eql(nothing);
    expect(await admitTask(em(), { ...running, attempt: 2 }, 5)).to.eql(nothing);
    expect(await counts()).to.eql({ earmarked: ESTIMATE, reserved: 0n, queued: 1, running: 0 });
  });
});
