// The schema: entities and migrations agree, and the database itself refuses what must not happen.
import { expect } from 'chai';
import { sql, type RawQueryFragment } from '@mikro-orm/postgresql';
import { createApiKey } from '../../db/keys/api-keys.ts';
import { grantOnce } from '../support/credits.ts';
import { migrate, MIGRATIONS, openDatabase } from '../../db/open-database.ts';
import { Secrets } from '../../db/secrets.ts';
import { createUser } from '../../db/identity/users.ts';
import { isFinal, mayFollow, TASK_STATUSES } from '../../domain/tasks.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from '../support/servers/database.ts';
import { forkEm } from '../../db/database.ts';

describe('the schema', () => {
  let test: TestDatabase;
  let userId: string;

  before(async () => {
    test = await createDatabase();
    userId =
      (await createUser(em(), { email: 'a@example.com', password: 'long enough', permissions: [] })) ?? '';
    await grantOnce(em(), { userId, amount: 5_000_000n, idempotencyKey: 'first', description: 'First' });
  });
  after(() => test.drop());

  const em = () => forkEm(test.database);
  const refusal = async (statement: RawQueryFragment): Promise<string> => {
    return em()
      .execute(statement)
      .then(
        () => 'nothing',
        (error: unknown) => String(error),
      );
  };

  it('has every column of the entities, of the same type', async () => {
    const difference = await test.database.schema.getUpdateSchemaSQL();
    const lines = difference
      .split('\n')
      .filter((line) =>
        /(add|drop) column|alter column .* (type|set not null|drop not null)|create table|drop table/.test(
          line,
        ),
      );
    expect(lines).to.deep.equal([]);
  });

  it('is made once by migrations that run at the same moment', async () => {
    const empty = await createEmptyDatabase();
    const again = openDatabase({ url: empty.url, connectionsMax: 2 });
    const done = await Promise.all([migrate(empty.database), migrate(again)]);
    await again.close();
    await empty.drop();
    expect(done.filter((names) => names.length === 0)).to.have.length(1);
    expect(done.flat()).to.include.members(MIGRATIONS.map(({ name }) => name));
  });

  it('is up to date after a second migration, which does nothing', async () => {
    expect(await migrate(test.database)).to.deep.equal([]);
  });

  it('has no constraint that only new rows were held against', async () => {
    const unproved = await em().execute(sql`
      select conrelid::regclass::text as "table", conname as name from pg_constraint
      where not convalidated and connamespace = 'public'::regnamespace`);
    expect(unproved).to.deep.equal([]);
  });

  it('never changes or removes a transfer', async () => {
    expect(await refusal(sql`update ledger_transfer set amount = amount + 1`)).to.include('never changed');
    expect(await refusal(sql`delete from ledger_transfer`)).to.include('never changed');
    expect(await refusal(sql`truncate ledger_transfer cascade`)).to.include('never changed');
  });

  it('refuses a transfer that goes the wrong way, moves nothing, or overdraws', async () => {
    const transfer = (kind: string, amount: number, balance: number) => sql`
      insert into ledger_transfer (account_id, sequence, id, operator_account, kind, amount, balance_after,
                                   idempotency_key, description)
      values (${userId}, 2, 'led_x', 'operator:grants', ${kind}, ${amount}, ${balance}, 'x', 'x')`;
    for (const wrong of [transfer('grant', -1, 1), transfer('charge', 1, 1), transfer('grant', 0, 1)])
      expect(await refusal(wrong)).to.include('ledger_transfer');
    expect(await refusal(transfer('charge', -1, -1))).to.include('balance_after_check');
  });

  it('mirrors in the account that its user is disabled', async () => {
    const isDisabled = async () => {
      const [row] = await em().execute<{ at: string | null }[]>(sql`
        select disabled_at as at from account where user_id = ${userId}`);
      return row?.at !== null;
    };
    await em().execute(sql`update app_user set disabled_at = now() where id = ${userId}`);
    expect(await isDisabled()).to.equal(true);
    await em().execute(sql`update app_user set disabled_at = null where id = ${userId}`);
    expect(await isDisabled()).to.equal(false);
  });

  it('refuses overdraft and negative reservations', async () => {
    expect(await refusal(sql`update account set reserved = balance + 1`)).to.include('account_covers');
    expect(await refusal(sql`update account set balance = -1`)).to.include('account_covers');
    expect(await refusal(sql`update account set reserved = -1`)).to.include('account_reserved_check');
  });

  it('lets a task go only where it may, and its progress only up', async () => {
    await createApiKey(em(), new Secrets([{ id: 'k', bytes: Buffer.alloc(32) }]), { userId, name: 'k' });
    await em().execute(sql`
      insert into task (id, user_id, mode, model, family, adapter, upstream_model, ordered, price, credits_estimate, request_payload)
      values ('task_x', ${userId}, 'image', 'm', 'f', 'a', 'u', '{}', '{}', 1, '{}')`);
    expect(
      await refusal(sql`update task set status = 'completed', completed_at = now() where id = 'task_x'`),
    ).to.include('may not go');
    await em().execute(sql`update task set status = 'in_progress', progress = 40 where id = 'task_x'`);
    expect(await refusal(sql`update task set progress = 39 where id = 'task_x'`)).to.include('may not fall');
    expect(await refusal(sql`update task set status = 'queued' where id = 'task_x'`)).to.include(
      'may not go',
    );
    expect(await refusal(sql`update task set credits_charged = 1 where id = 'task_x'`)).to.include(
      'task_check',
    );
  });

  for (const from of TASK_STATUSES)
    it(`lets what is ${from} become what the domain allows, and nothing else`, async () => {
      for (const to of TASK_STATUSES.filter((status) => status !== from)) {
        const id = `task_${from}_${to}`;
        await em().execute(sql`
          insert into task (id, user_id, mode, model, family, adapter, upstream_model, ordered, price,
                            credits_estimate, request_payload, status, completed_at)
          values (${id}, ${userId}, 'image', 'm', 'f', 'a', 'u', '{}', '{}', 1, '{}', ${from},
                  case when ${isFinal(from)} then now() end)`);
        const words = await refusal(sql`
          update task set status = ${to}, attempt = attempt + (${to} = 'queued')::int,
                 completed_at = case when ${isFinal(to)} then now() end
          where id = ${id}`);
        expect(words === 'nothing', `${from} → ${to}: ${words}`).to.equal(mayFollow(from, to));
      }
    });
});
