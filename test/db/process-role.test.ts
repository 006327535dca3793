// The database user of the processes: it owns nothing, and moves credits through the functions only.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm, type Database } from '../../db/database.ts';
import { createUser } from '../../db/identity/users.ts';
import { migrate, openDatabase } from '../../db/open-database.ts';
import { grantProcessRights } from '../../db/process-role.ts';
import { grantOnce } from '../support/credits.ts';
import { createDatabase, type TestDatabase } from '../support/servers/database.ts';

/** PostgreSQL's code for a missing right. */
const FORBIDDEN = '42501';
const MONEY = [
  'account',
  'key_spending',
  'task_attempt',
  'ledger_transfer',
  'credited_transfer',
  'chat_call',
];

describe('the database user of the processes', () => {
  let stored: TestDatabase;
  let processes: Database;
  let userId: string;

  before(async () => {
    stored = await createDatabase(2);
    processes = openDatabase({ url: stored.processUrl, connectionsMax: 2 });
    const user = { email: 'a@example.com', password: 'long enough', permissions: [] };
    userId = (await createUser(forkEm(processes), user)) ?? '';
  });
  after(async () => {
    await processes.close();
    await stored.drop();
  });

  /** The code of PostgreSQL's refusal; null when the statement was run. */
  async function refusalOf(statement: string): Promise<unknown> {
    return forkEm(processes)
      .execute(statement)
      .then(
        () => null,
        (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
      );
  }

  const roleOfProcesses = async (): Promise<string> => {
    const [row] = await forkEm(processes).execute<{ role: string }[]>('select current_user::text as role');
    return row?.role ?? '';
  };

  const balance = async (): Promise<string | undefined> => {
    const [row] = await forkEm(processes).execute<{ balance: string }[]>(sql`
      select balance from account where user_id = ${userId}`);
    return row?.balance;
  };

  it('moves credits through a function', async () => {
    const move = { userId, amount: 5_000_000n, idempotencyKey: 'first', description: 'First' };
    await grantOnce(forkEm(processes), move);
    expect(await balance()).to.equal('5000000');
  });

  it('owns no table and no function', async () => {
    const owned = await forkEm(processes).execute(sql`
      select relname as name from pg_class where relowner = current_user::regrole
      union all select proname from pg_proc where proowner = current_user::regrole`);
    expect(owned).to.deep.equal([]);
  });

  it('cannot switch a trigger off, drop, empty or change a table, nor replace a function', async () => {
    for (const table of [...MONEY, 'audit_entry', 'task', 'app_user'])
      for (const statement of [
        `alter table ${table} disable trigger all`,
        `alter table ${table} add column extra text`,
        `truncate ${table} cascade`,
        `drop table ${table} cascade`,
      ])
        expect(await refusalOf(statement), statement).to.equal(FORBIDDEN);
    for (const statement of [
      'create or replace function move_calls() returns void language sql as $$ $$',
      'drop function credit_account',
      'create table extra (id text)',
      'set session_replication_role = replica',
    ])
      expect(await refusalOf(statement), statement).to.equal(FORBIDDEN);
  });

  it('creates nothing after a migration, although PostgreSQL 14 let everyone do so', async () => {
    await forkEm(stored.database).execute('grant create on schema public to public');
    expect(await refusalOf('create table extra (id text)')).to.equal(null);
    await forkEm(stored.database).execute('drop table extra');
    await grantProcessRights(stored.database, await roleOfProcesses());
    expect(await refusalOf('create table extra (id text)')).to.equal(FORBIDDEN);
  });

  it('reads the days of usage that the release before it reads, and does not write them', async () => {
    await forkEm(processes).execute(sql`
      insert into usage_rollup (user_id, bucket, key_id, kind, model, family, credits)
      values (${userId}, '2025-06-01 23:45Z', 'key', 'chat', 'm', 'f', 7), (${userId}, '2025-06-02 00:00Z', '', 'chat', 'm', 'f', 1)`);
    const days = await forkEm(processes).execute(sql`
      select day::text, key_id, credits from usage_day where user_id = ${userId} order by day`);
    expect(days).to.deep.equal([
      { day: '2025-06-01', key_id: 'key', credits: '7' },
      { day: '2025-06-02', key_id: '', credits: '1' },
    ]);
    expect(await refusalOf(`update usage_day set credits = 0`)).to.equal(FORBIDDEN);
  });

  it('cannot write a transfer, a counter, a reservation or a charge by itself', async () => {
    for (const statement of [
      `update account set balance = balance + 1`,
      `update account set reserved = 0`,
      `insert into account (user_id, balance) values ('usr_x', 1)`,
      `update key_spending set used = 0`,
      `insert into ledger_transfer select * from ledger_transfer`,
      `update ledger_transfer set amount = 1`,
      `insert into credited_transfer select * from credited_transfer`,
      `update credited_transfer set sequence = 1`,
      `update redeem_code set credits = 1`,
      `update redeem_code set max_uses = 1`,
      `update redemption set credits = 1`,
      `insert into task_attempt select * from task_attempt`,
      `update task_attempt set charged = 0`,
      `update chat_call set credits_charged = 0`,
      `insert into chat_call select * from chat_call`,
      `update audit_entry set action = 'OTHER'`,
      `update retention_floor set kept = '0'`,
      `delete from retention_floor`,
      `insert into removed_call values ('${userId}', 1, 5000000)`,
      `update removed_call set loss = 0`,
      `delete from mikro_orm_migrations`,
      ...[...MONEY, 'audit_entry', 'redeem_code', 'redemption'].map((table) => `delete from ${table}`),
    ])
      expect(await refusalOf(statement), statement).to.equal(FORBIDDEN);
  });

  it('cannot call the steps inside the functions', async () => {
    for (const statement of [
      `select lock_counters(array['${userId}'], array[null])`,
      `select settle_late_call('c', '${userId}', 't', 1, 0, 's', 1, 1, 'b', 1, null, null, null, '[]')`,
    ])
      expect(await refusalOf(statement), statement).to.equal(FORBIDDEN);
  });

  it('cannot put a table of its session in the place of one that the functions write', async () => {
    await forkEm(processes).transactional(async (tx) => {
      await tx.execute(
        'create temporary table account (like public.account including defaults) on commit drop',
      );
      await tx.execute(`insert into account (user_id, balance) values ('${userId}', 1000000000)`);
      const move = { userId, amount: 1_000_000n, idempotencyKey: 'second', description: 'Second' };
      await grantOnce(tx, move);
    });
    expect(await balance()).to.equal('6000000');
  });

  it('is given what a later migration brings', async () => {
    await forkEm(stored.database).execute('create table later (id text)');
    expect(await refusalOf('select * from later')).to.equal(FORBIDDEN);
    const { username } = new URL(stored.processUrl);
    await migrate(stored.database, username);
    expect(await refusalOf(`insert into later (id) values ('x')`)).to.equal(null);
    expect(await refusalOf('truncate later')).to.equal(FORBIDDEN);
  });
});
