// The check of the ledger, from checkpoints and from the beginning: each broken rule is found, at any size.
import { expect } from 'chai';
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { forkEm, type Em } from '../../../db/database.ts';
import { checkAccounts, listChanged, listOldest, listViolated } from '../../../db/ledger/checkpoints.ts';
import { findViolations, type Violation } from '../../../db/ledger/invariants.ts';
import { findCodeViolations } from '../../../db/ledger/code-rules.ts';
import { findStrangers } from '../../../db/ledger/strangers.ts';
import { checkSlice, onOneSnapshot } from '../../../db/ledger/slices.ts';
import { beginningOf } from '../../../db/ledger/walk.ts';
import * as reservations from '../../../db/ledger/reservations.ts';
import { completeTask } from '../../../db/tasks/settlement.ts';
import { grantOnce } from '../../support/credits.ts';
import * as rows from '../../support/rows.ts';
import { createDatabase, type TestDatabase } from '../../support/servers/database.ts';

const CREDIT = 1_000_000n;
/** What one statement may take on the server (`db/open-database.ts`), in milliseconds. */
const STATEMENT_MS = 5_000;

describe('the check of the ledger', () => {
  let test: TestDatabase;
  let owner: string;
  let done: string;
  let open: string;

  const em = () => forkEm(test.database);
  const run = (statement: RawQueryFragment) => em().execute(statement);
  const rulesOf = (found: readonly Violation[]) =>
    found.filter(({ userId }) => userId === owner || userId === null).map(({ rule }) => rule);

  before(async () => {
    test = await createDatabase();
  });
  after(() => test.drop());
  beforeEach(async () => {
    owner = await rows.createOwner(em(), 10n * CREDIT);
    const task = await rows.queueTask(em(), owner, 5n * CREDIT);
    await reservations.reserve(em(), task);
    await rows.begin(em(), task);
    await completeTask(em(), task, { outputs: [], outputText: null, amount: 2n * CREDIT, loss: 1n });
    done = task.taskId;
    const other = await rows.queueTask(em(), owner, CREDIT);
    await reservations.reserve(em(), other);
    open = other.taskId;
    expect(await checkAccounts(em(), [owner])).to.include({ verified: 1 });
  });

  /** Edits rows with all triggers off. */
  const edit = async (statement: RawQueryFragment): Promise<void> => {
    await em().transactional(async (tx) => {
      await tx.execute(`set local session_replication_role = replica`);
      await tx.execute(statement);
    });
  };

  const BROKEN: Record<string, () => RawQueryFragment> = {
    'balance is the sum of the transfers': () =>
      sql`update account set balance = balance + 1, total_granted = total_granted + 1 where user_id = ${owner}`,
    'granted and charged are the sums of their transfers': () => sql`
      update account set total_granted = total_granted + 1, total_charged = total_charged + 1 where user_id = ${owner}`,
    'granted less charged is the balance': () =>
      sql`update account set total_granted = total_granted + 1 where user_id = ${owner}`,
    'reserved is the sum of open reservations': () =>
      sql`update account set reserved = reserved + 1 where user_id = ${owner}`,
    'lost is what attempts and calls show': () =>
      sql`update account set total_loss = total_loss + 1 where user_id = ${owner}`,
    'earmarked is the sum of the estimates of queued tasks without a reservation': () =>
      sql`update account set earmarked = earmarked + 1 where user_id = ${owner}`,
    'queued and running count the open tasks': () =>
      sql`update account set queued = queued + 1 where user_id = ${owner}`,
    'an account is disabled when its user is': () =>
      sql`update account set disabled_at = now() where user_id = ${owner}`,
    'every reservation, task and transfer has its account': () =>
      sql`insert into task_attempt (task_id, attempt, user_id, amount, day) values ('t', 1, 'user_none', 1, now())`,
    'the sequence has no gaps': () =>
      sql`update account set sequence = sequence + 1 where user_id = ${owner}`,
    'balanceAfter is a chain': () =>
      move(1, sql`kind, balance_after, idempotency_key`, sql`'grant', balance + 7, ${owner}`),
    'an attempt is charged and refunded by the transfers that name it': () => sql`
      with told as (update task set changed_xid = pg_current_xact_id() where id = ${done})
      update task_attempt set charged = charged - 1 where task_id = ${done}`,
    'a call is charged by the transfers that name it': () => sql`
      insert into chat_call (user_id, id, key_id, request_id, model, stream, status, credits_reserved, credits_charged,
        day, lease_until, billing_basis, latency_ms, tried, settled_at)
      values (${owner}, 'chat_x', 'k', 'r', 'm', false, 'completed', 9, 9, now(), now(), 'upstream', 1, '[]', now())`,
    'a charge or refund names what it is for, and nothing else does': () =>
      move(-1, sql`kind, balance_after`, sql`'charge', balance`),
    'an open reservation belongs to an open task': () => sql`
      insert into task_attempt (task_id, attempt, user_id, amount, day) values ('task_none', 1, ${owner}, 0, now())`,
    'an admitted open task has an open reservation': () =>
      sql`delete from task_attempt where task_id = ${open}`,
    'a completed task is charged once, the amount it shows': () => sql`
      update task set credits_charged = credits_charged - 1, changed_xid = pg_current_xact_id() where id = ${done}`,
    'a task that did not complete is not charged': () => sql`
      update task set status = 'failed', credits_charged = 0, changed_xid = pg_current_xact_id() where id = ${done}`,
    'a redeem code was used as often as it was redeemed and granted': () => sql`
      insert into redeem_code (id, label, secret_key_id, hash, hint, credits, max_uses, used_count, created_by)
      values ('code_x', 'x', 'k', 'x', 'x', 1, 5, 1, ${owner})`,
    'a redemption stands behind every redeemed grant': () =>
      move(1, sql`kind, balance_after, idempotency_key`, sql`'redeem', balance, ${owner}`),
    'an audit entry or a redemption stands behind added credits': () =>
      move(1, sql`kind, balance_after, idempotency_key`, sql`'grant', balance, ${owner}`),
    'an audit entry stands behind every redeem code': () => sql`
      insert into redeem_code (id, label, secret_key_id, hash, hint, credits, max_uses, created_by)
      values (${`code_${owner}`}, 'x', 'k', ${owner}::bytea, 'x', 1, 5, ${owner})`,
    'every key has its spending': () => insertKey(),
    'a key has earmarked what its queued tasks wait with': () => keySpending('earmarked'),
    'a key has reserved what is open and used what was charged': () => keySpending('used'),
    'a key’s day has reserved and used what was taken on that day': () => keySpending('day_used'),
  };
  const insertKey = () => sql`
    insert into api_key (id, user_id, name, secret_key_id, hash, prefix)
    values (${`key_${owner}`}, ${owner}, 'x', 'k', ${owner}::bytea, 'x')`;
  const keySpending = (column: string) => sql`
    with key as (${insertKey()}) insert into key_spending (key_id, ${sql.ref(column)}) values (${`key_${owner}`}, 1)`;
  /** A transfer of the owner's with the account's figures, which `columns` and `values` add to or bend. */
  const move = (amount: number, columns: RawQueryFragment, values: RawQueryFragment) => sql`
    with moved as (
      update account set sequence = sequence + 1, balance = balance + ${amount}::int,
        total_granted = total_granted + greatest(${amount}::int, 0),
        total_charged = total_charged - least(${amount}::int, 0)
      where user_id = ${owner} returning *
    ), credited as (insert into credited_transfer select ${`led_${owner}`}, user_id, sequence from moved)
    insert into ledger_transfer (account_id, sequence, id, operator_account, amount, description, ${columns})
    select user_id, sequence, 'led_x', 'operator:grants', ${amount}::int, 'x', ${values} from moved`;

  for (const [rule, broken] of Object.entries(BROKEN)) {
    it(`finds, from a checkpoint and from the beginning: ${rule}`, async () => {
      await edit(broken());
      expect(rulesOf(await findViolations(em()))).to.include(rule);
      const { violations } = await checkAccounts(em(), [owner]);
      const others = await onOneSnapshot(em(), true, async (tx) => [
        ...(await findStrangers(tx, '', null)),
        ...(await findCodeViolations(tx, '', 'z')),
      ]);
      expect(rulesOf([...violations, ...others])).to.include(rule);
    });
  }

  it('freezes what it finds, leaves its checkpoint where it is, and resolves it once it is in order', async () => {
    await edit(sql`update account set total_loss = total_loss + 1 where user_id = ${owner}`);
    await grantOnce(em(), {
      userId: owner,
      amount: 1n,
      idempotencyKey: `more:${owner}`,
      description: 'x',
    });
    const before = await checkpoint();
    expect(await checkAccounts(em(), [owner])).to.deep.include({ verified: 0, frozen: [owner] });
    expect(await checkpoint()).to.deep.equal(before);
    expect(await listViolated(em(), 1_000)).to.include(owner);
    expect(await listOldest(em(), 1_000)).not.to.include(owner);
    await edit(sql`update account set total_loss = total_loss - 1 where user_id = ${owner}`);
    expect(await checkAccounts(em(), [owner])).to.deep.include({ verified: 1, frozen: [] });
    expect(await listViolated(em(), 1_000)).not.to.include(owner);
    expect((await checkpoint())?.['sequence']).to.equal('3');
  });

  it('knows accounts that changed since their checkpoint, and new ones', async () => {
    await run(sql`update account set updated_at = now() - interval '1 hour'`);
    const isDue = async (userId: string) => (await listChanged(em(), '', 10_000)).userIds.includes(userId);
    expect(await isDue(owner)).to.equal(false);
    await grantOnce(em(), { userId: owner, amount: 1n, idempotencyKey: `due:${owner}`, description: 'x' });
    expect(await isDue(owner)).to.equal(true);
    expect(await isDue(await rows.createOwner(em(), 1n))).to.equal(true);
  });

  it('repeats a slice that died in the middle', async () => {
    const before = await checkpoint();
    await grantOnce(em(), {
      userId: owner,
      amount: 1n,
      idempotencyKey: `dies:${owner}`,
      description: 'x',
    });
    await run(sql`
      create function die() returns trigger language plpgsql as $$ begin raise exception 'dies'; end $$`);
    await run(
      sql`create trigger dies before update on ledger_checkpoint for each row execute function die()`,
    );
    const died = await checkAccounts(em(), [owner]).catch((error: unknown) => String(error));
    await run(sql`drop trigger dies on ledger_checkpoint`);
    expect(died).to.include('dies');
    expect(await checkpoint()).to.deep.equal(before);
    expect(await checkAccounts(em(), [owner])).to.include({ verified: 1 });
  });

  describe('of an account with 200,000 calls', () => {
    let heavy: string;
    before(async () => {
      heavy = await rows.createOwner(em(), CREDIT);
      await rows.addSettledCalls(em(), heavy, 200_000);
    });

    it('goes in steps, each far below the statement time-out, and afterwards over what is new', async () => {
      let slowestMs = 0;
      let slices = 0;
      for (let verified = 0; verified === 0; slices += 1) {
        const began = Date.now();
        const slice = await checkAccounts(em(), [heavy]);
        slowestMs = Math.max(slowestMs, Date.now() - began);
        expect(slice.violations).to.deep.equal([]);
        ({ verified } = slice);
      }
      expect(slices).to.be.within(40, 42);
      expect(slowestMs).to.be.below(STATEMENT_MS);
      const began = Date.now();
      expect(await checkAccounts(em(), [heavy])).to.include({ verified: 1 });
      expect(Date.now() - began).to.be.below(STATEMENT_MS / 5);
    });

    it('finds in one round of them what was edited, from the beginning too', async () => {
      await edit(sql`
        update account set total_charged = total_charged + 1, total_granted = total_granted + 1
        where user_id = ${heavy}`);
      const rule = 'granted and charged are the sums of their transfers';
      const expected = { rule, subject: heavy, userId: heavy };
      expect((await checkAccounts(em(), [heavy])).violations).to.deep.equal([expected]);
      let slices = 0;
      const found = await findViolations(em(), { onProgress: (progress) => ({ slices } = progress) });
      expect(found).to.deep.include(expected);
      expect(slices).to.be.above(20);
    });

    it('finds all rows of large tables by their indexes', async () => {
      const sequentialScans = async (tx: Em): Promise<unknown> =>
        tx.execute(sql`
          select relname, seq_scan from pg_stat_xact_user_tables
          where relname in ('ledger_transfer', 'chat_call', 'task_attempt', 'task') and seq_scan > 0`);
      const scanned = await onOneSnapshot(em(), true, async (tx) => {
        await checkSlice(tx, [beginningOf(heavy)]);
        await findStrangers(tx, '', null);
        return sequentialScans(tx);
      });
      expect(scanned).to.deep.equal([]);
    });
  });

  async function checkpoint(): Promise<Record<string, unknown> | undefined> {
    const [row] = await em().execute<Record<string, unknown>[]>(
      sql`select * from ledger_checkpoint where user_id = ${owner}`,
    );
    return row;
  }
});
