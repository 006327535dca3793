// What stands behind credits: a process that was taken over adds none without a row that says who and why.
import { randomBytes } from 'node:crypto';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { COMMAND_LINE, writeAuditEntry } from '../../../db/audit-log.ts';
import { forkEm, type Database, type Em } from '../../../db/database.ts';
import { grantCredits } from '../../../db/identity/user-administration.ts';
import { makeId } from '../../../db/ids.ts';
import { findAccount, listTransfers } from '../../../db/ledger/accounts.ts';
import { findViolations } from '../../../db/ledger/invariants.ts';
import { refundTask } from '../../../db/ledger/refunds.ts';
import * as reservations from '../../../db/ledger/reservations.ts';
import { openDatabase } from '../../../db/open-database.ts';
import { createRedeemCode, disableRedeemCode } from '../../../db/redeem/redeem-codes.ts';
import { redeem } from '../../../db/redeem/redemptions.ts';
import { Secrets } from '../../../db/secrets.ts';
import { completeTask } from '../../../db/tasks/settlement.ts';
import type { AuditAction } from '../../../domain/audit.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const CREDIT = 1_000_000n;
const NOTHING_BEHIND = 'stands behind';

describe('credits that are added by the database user of the processes', () => {
  let test: TestDatabase;
  let processes: Database;
  let owner: string;
  let code: { id: string; text: string };
  const secrets = new Secrets([{ id: 'k', bytes: randomBytes(32) }]);

  before(async () => {
    test = await createDatabase();
    processes = openDatabase({ url: test.processUrl, connectionsMax: 4 });
  });
  after(async () => {
    await processes.close();
    await test.drop();
  });
  beforeEach(async () => {
    owner = await rows.createOwner(em(), 10n * CREDIT);
    code = await createCode();
  });
  afterEach(async () => {
    expect(await findViolations(em())).to.deep.equal([]);
  });

  const em = (): Em => forkEm(processes);
  const balance = async () => (await findAccount(em(), owner)).balance;

  async function createCode(): Promise<{ id: string; text: string }> {
    const wanted = { label: 'x', credits: 5n * CREDIT, maxUses: 9, perUserLimit: null, expiresAt: null };
    const input = { ...wanted, createdBy: owner };
    const { text, record } = await createRedeemCode(em(), secrets, COMMAND_LINE, input);
    return { text, id: record.id };
  }

  /** What the database says of these steps in one transaction; null when they were committed. */
  async function refusalOf(steps: (tx: Em) => Promise<unknown>): Promise<string | null> {
    return em()
      .transactional(steps)
      .then(() => null, String);
  }

  const credit = (tx: Em, kind: string, credits: number, transferId: string = makeId('led')) =>
    tx.execute(sql`
      select credit_account(${owner}, ${credits * 1_000_000}, ${kind}, ${makeId('led')}, 'x', null, ${transferId})`);

  interface Entry {
    action?: AuditAction;
    targetId?: string;
    credits?: number;
  }

  const writeEntry = (tx: Em, ledgerEntryId: string, entry: Entry = {}) => {
    const { action = 'GRANT_CREDITS', targetId = owner, credits = 3 } = entry;
    const detail = { credits, ledgerEntryId };
    return writeAuditEntry(tx, COMMAND_LINE, { action, targetType: 'user', targetId, detail });
  };

  const recordRedemption = (tx: Em, codeId: string) =>
    tx.execute(sql`
      with claim as (update redeem_code set used_count = used_count + 1 where id = ${codeId})
      insert into redemption (id, code_id, user_id, transfer_sequence, credits)
      select ${makeId('rdp')}, ${codeId}, account_id, sequence, amount from ledger_transfer
      where account_id = ${owner} order by sequence desc limit 1`);

  async function chargeTask(): Promise<string> {
    const task = await rows.queueTask(em(), owner, 4n * CREDIT);
    await reservations.reserve(em(), task);
    await rows.begin(em(), task);
    await completeTask(em(), task, { outputs: [], outputText: null, amount: 4n * CREDIT, loss: 0n });
    return task.taskId;
  }

  const refund = (tx: Em, taskId: string, transferId: string) =>
    tx.execute(sql`
      select refund_attempt(${taskId}, 1, ${3_000_000}, ${makeId('led')}, 'x', ${transferId})`);

  it('are granted, redeemed and refunded with what stands behind them', async () => {
    await grantCredits(em(), COMMAND_LINE, { userId: owner, credits: 123_456_789n, note: 'Thanks' });
    const input = { userId: owner, code: code.text, requestId: 'r' };
    expect(await redeem(em(), secrets, input)).to.include({ kind: 'redeemed' });
    const taskId = await chargeTask();
    for (const credits of [1n, null])
      expect(await refundTask(em(), COMMAND_LINE, { taskId, credits, note: 'Sorry' })).to.include({
        kind: 'refunded',
      });
    expect(await balance()).to.equal(15n * CREDIT + 123_456_789n);
  });

  it('are refused without it', async () => {
    for (const kind of ['grant', 'redeem', 'refund', 'adjustment'])
      expect(await refusalOf((tx) => credit(tx, kind, 3)), kind).to.include(NOTHING_BEHIND);
    expect(await balance()).to.equal(10n * CREDIT);
  });

  it('are refused with an entry of another amount, account, action or time', async () => {
    const others: Entry[] = [{ credits: 2.999999 }, { targetId: makeId('usr') }, { action: 'REFUND_TASK' }];
    for (const other of others) {
      const id = makeId('led');
      const steps = async (tx: Em) => [await credit(tx, 'grant', 3, id), await writeEntry(tx, id, other)];
      expect(await refusalOf(steps), JSON.stringify(other)).to.include(NOTHING_BEHIND);
    }
    const id = makeId('led');
    const yesterday = makeId('aud', Date.now() - 86_400_000);
    const steps = async (tx: Em) => [
      await credit(tx, 'grant', 3, id),
      await tx.execute(sql`
        insert into audit_entry (id, action, target_type, target_id, detail)
        values (${yesterday}, 'GRANT_CREDITS', 'user', ${owner}, ${JSON.stringify({ credits: 3, ledgerEntryId: id })}::jsonb)`),
    ];
    expect(await refusalOf(steps)).to.include(NOTHING_BEHIND);
    expect(await balance()).to.equal(10n * CREDIT);
  });

  it('are added once for an entry, and an entry is written once for a transfer', async () => {
    const [granted] = await listTransfers(em(), owner, { limit: 1, beforeSequence: null });
    const id = granted?.id ?? '';
    expect(await refusalOf((tx) => credit(tx, 'grant', 10, id))).to.include('duplicate key');
    expect(await refusalOf((tx) => writeEntry(tx, id))).to.include('duplicate key');
  });

  it('are refused where a function of the session answers in the place of ours', async () => {
    const steps = async (tx: Em) => {
      await tx.execute(`
        create function pg_temp.credit_has_reason(text, bigint) returns boolean language sql as 'select true'`);
      await credit(tx, 'grant', 3);
      await tx.execute('set local search_path = pg_temp, public');
    };
    expect(await refusalOf(steps)).to.include(NOTHING_BEHIND);
  });

  it('are redeemed for what the code gives, and while it is valid', async () => {
    const take = (credits: number) => async (tx: Em) => [
      await credit(tx, 'redeem', credits),
      await recordRedemption(tx, code.id),
    ];
    expect(await refusalOf(take(6))).to.include(NOTHING_BEHIND);
    await disableRedeemCode(em(), COMMAND_LINE, code.id);
    expect(await refusalOf(take(5))).to.include(NOTHING_BEHIND);
    const enable = (tx: Em) =>
      tx.execute(sql`update redeem_code set disabled_at = null where id = ${code.id}`);
    expect(await refusalOf(enable)).to.include('never changed');
    expect(await balance()).to.equal(10n * CREDIT);
  });

  it('are not given by a code that no entry stands behind', async () => {
    const make =
      (credits: number, maxUses: number, entry: object | null, daysAgo = 0) =>
      async (tx: Em) => {
        const id = makeId('rdm');
        await tx.execute(sql`
        insert into redeem_code (id, label, secret_key_id, hash, hint, credits, max_uses, created_by, created_at)
        values (${id}, 'x', 'k', ${id}::bytea, 'x', ${credits * 1_000_000}, ${maxUses}, ${owner},
          now() - make_interval(days => ${daysAgo}::int))`);
        if (entry)
          await writeAuditEntry(tx, COMMAND_LINE, {
            ...{ action: 'CREATE_REDEEM_CODE', targetType: 'redeem_code', targetId: id },
            detail: { ...entry },
          });
      };
    for (const entry of [null, { credits: 1, maxUses: 5 }, { credits: 2, maxUses: 1 }])
      expect(await refusalOf(make(2, 5, entry))).to.include(NOTHING_BEHIND);
    expect(await refusalOf(make(2, 5, { credits: 2, maxUses: 5 }, 1))).to.include(NOTHING_BEHIND);
    expect(await refusalOf(make(2.5, 5, { credits: 2.5, maxUses: 5 }))).to.equal(null);
  });

  it('are refunded with an entry of their own', async () => {
    const taskId = await chargeTask();
    const id = makeId('led');
    expect(await refusalOf((tx) => refund(tx, taskId, id))).to.include(NOTHING_BEHIND);
    for (const entry of [{ targetId: taskId }, { action: 'REFUND_TASK' } as const]) {
      const steps = async (tx: Em) => [await refund(tx, taskId, id), await writeEntry(tx, id, entry)];
      expect(await refusalOf(steps)).to.include(NOTHING_BEHIND);
    }
    expect(await balance()).to.equal(6n * CREDIT);
  });
});
