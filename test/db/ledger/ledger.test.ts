// The ledger under repetition and in parallel: every move happens once, and nothing is ever overdrawn.
import { expect } from 'chai';
import { sql } from '@mikro-orm/postgresql';
import { findAccount, listTransfers } from '../../../db/ledger/accounts.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import * as reservations from '../../../db/ledger/reservations.ts';
import { completeTask, failTask } from '../../../db/tasks/settlement.ts';
import { createTask } from '../../../db/tasks/new-tasks.ts';
import { beginTask } from '../../../db/tasks/tasks.ts';
import { refundOnce, grantOnce } from '../../support/credits.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';
import { forkEm } from '../../../db/database.ts';

const CREDIT = 1_000_000n;

describe('the ledger', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());
  afterEach(async () => expect(await findViolations(em())).to.deep.equal([]));

  const em = () => forkEm(test.database);

  const createOwner = (credits: bigint) => rows.createOwner(em(), credits);
  const queueTask = (userId: string, credits: bigint) => rows.queueTask(em(), userId, credits);
  const begin = (taskId: string) => rows.begin(em(), { taskId, attempt: 1 });
  const account = (userId: string) => findAccount(em(), userId);

  it('grants once per idempotency key, and answers the first move again', async () => {
    const userId = await createOwner(0n);
    const input = { userId, amount: 7n * CREDIT, idempotencyKey: 'gift', description: 'Gift' };
    const moves = await Promise.all(Array.from({ length: 10 }, () => grantOnce(em(), input)));
    const again = await grantOnce(em(), input);
    expect(new Set(moves.map((move) => move.transferId))).to.deep.equal(new Set([again.transferId]));
    expect((await account(userId)).balance).to.equal(7n * CREDIT);
  });

  it('admits and reserves exactly as many of 50 parallel tasks as the balance covers', async () => {
    const userId = await createOwner(7n * CREDIT);
    const created = await Promise.all(
      Array.from({ length: 50 }, () => createTask(em(), rows.newTask(userId, CREDIT), 1_000_000)),
    );
    const refused = created.filter((answer) => 'kind' in answer);
    expect(refused.map(({ kind }) => kind)).to.deep.equal(Array(43).fill('insufficient_credits'));
    expect(await account(userId)).to.include({ balance: 7n * CREDIT, reserved: 0n, earmarked: 7n * CREDIT });
    const tasks = created.flatMap((answer) => ('id' in answer ? [{ taskId: answer.id, attempt: 1 }] : []));
    const verdicts = await Promise.all(tasks.map((task) => reservations.reserve(em(), task)));
    expect(verdicts.filter(({ kind }) => kind === 'reserved')).to.have.length(7);
    expect(await account(userId)).to.include({ balance: 7n * CREDIT, reserved: 7n * CREDIT, earmarked: 0n });
  });

  it('reserves once for an attempt, however often it is asked', async () => {
    const userId = await createOwner(10n * CREDIT);
    const task = await queueTask(userId, 3n * CREDIT);
    const first = await reservations.reserve(em(), task);
    const others = await Promise.all(Array.from({ length: 10 }, () => reservations.reserve(em(), task)));
    for (const verdict of others) expect(verdict).to.deep.equal(first);
    expect((await account(userId)).reserved).to.equal(3n * CREDIT);
  });

  it('charges once when ten settlements race, and the rest of the reservation returns', async () => {
    const userId = await createOwner(10n * CREDIT);
    const task = await queueTask(userId, 5n * CREDIT);
    await reservations.reserve(em(), task);
    await begin(task.taskId);
    const settle = () =>
      completeTask(em(), task, { outputs: [], outputText: null, amount: 2n * CREDIT, loss: 0n });
    expect(new Set(await Promise.all(Array.from({ length: 10 }, settle)))).to.deep.equal(
      new Set(['completed']),
    );
    expect(await account(userId)).to.include({
      balance: 8n * CREDIT,
      reserved: 0n,
      totalCharged: 2n * CREDIT,
    });
    expect(await listTransfers(em(), userId, { limit: 10, beforeSequence: null })).to.have.length(2);
  });

  it('lets the first outcome stand when completion and failure race', async () => {
    for (let round = 0; round < 20; round += 1) {
      const userId = await createOwner(4n * CREDIT);
      const task = await queueTask(userId, 4n * CREDIT);
      await reservations.reserve(em(), task);
      await begin(task.taskId);
      const words = await Promise.all([
        completeTask(em(), task, { outputs: [], outputText: null, amount: 4n * CREDIT, loss: 0n }),
        failTask(em(), task, { code: 'upstream_error', message: 'x' }),
      ]);
      expect(new Set(words).size, words.join(', ')).to.equal(1);
      const { balance, reserved } = await account(userId);
      expect({ balance, reserved }).to.deep.equal({
        balance: words[0] === 'completed' ? 0n : 4n * CREDIT,
        reserved: 0n,
      });
    }
  });

  it('does not reserve for a disabled user, a frozen account, or a task that has ended', async () => {
    const userId = await createOwner(10n * CREDIT);
    const task = await queueTask(userId, CREDIT);
    await em().execute(sql`update app_user set disabled_at = now() where id = ${userId}`);
    expect(await reservations.reserve(em(), task)).to.deep.equal({
      kind: 'refused',
      reason: 'account_disabled',
    });
    await em().execute(sql`update app_user set disabled_at = null where id = ${userId}`);
    await em().execute(sql`update account set frozen_at = now() where user_id = ${userId}`);
    expect(await reservations.reserve(em(), task)).to.deep.equal({
      kind: 'refused',
      reason: 'account_disabled',
    });
    await em().execute(sql`update account set frozen_at = null where user_id = ${userId}`);
    await failTask(em(), task, { code: 'internal_error', message: 'x' });
    expect(await reservations.reserve(em(), task)).to.deep.equal({ kind: 'not_claimable' });
  });

  it('does not begin what waited while its user was disabled or its account frozen', async () => {
    const userId = await createOwner(10n * CREDIT);
    const task = await queueTask(userId, CREDIT);
    await reservations.reserve(em(), task);
    const refused = { kind: 'refused', reason: 'account_disabled' };
    await em().execute(sql`update app_user set disabled_at = now() where id = ${userId}`);
    expect(await beginTask(em(), task, 5)).to.deep.equal(refused);
    await em().execute(sql`update app_user set disabled_at = null where id = ${userId}`);
    await em().execute(sql`update account set frozen_at = now() where user_id = ${userId}`);
    expect(await beginTask(em(), task, 5)).to.deep.equal(refused);
    await failTask(em(), task, { code: 'account_disabled', message: 'x' });
    expect(await account(userId)).to.include({ reserved: 0n, queued: 0, running: 0 });
  });

  it('refunds once per key and never more than was charged', async () => {
    const userId = await createOwner(10n * CREDIT);
    const task = await queueTask(userId, 5n * CREDIT);
    await reservations.reserve(em(), task);
    await begin(task.taskId);
    await completeTask(em(), task, { outputs: [], outputText: null, amount: 5n * CREDIT, loss: 0n });
    const input = {
      ...task,
      amount: 3n * CREDIT,
      idempotencyKey: `refund:${task.taskId}`,
      description: 'Sorry',
    };
    const first = await refundOnce(em(), input);
    expect(first?.balance).to.equal(8n * CREDIT);
    expect((await refundOnce(em(), input))?.transferId).to.equal(first?.transferId);
    expect(await refundOnce(em(), { ...input, idempotencyKey: 'again' })).to.equal(null);
    expect(await account(userId)).to.include({ balance: 8n * CREDIT, totalCharged: 2n * CREDIT });
  });

  it('finds a balance that was edited by hand', async () => {
    const userId = await createOwner(10n * CREDIT);
    await em().execute(sql`update account set reserved = 1 where user_id = ${userId}`);
    const found = await findViolations(em());
    const rule = 'reserved is the sum of open reservations';
    expect(found).to.deep.equal([{ rule, subject: userId, userId }]);
    await em().execute(sql`update account set reserved = 0 where user_id = ${userId}`);
  });
});
