// Prepared statements: each connection knows them by name, through the migrations of a later release.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm, type Em } from '../../db/database.ts';
import { prepare } from '../../db/prepared.ts';
import { createDatabase } from '../support/servers/database.ts';

describe('a prepared statement', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  const em = (): Em => forkEm(stored.database);

  before(async () => {
    stored = await createDatabase();
  });
  after(() => stored.drop());

  it('goes on when a migration adds a column to what it reads, on each connection that knew it', async () => {
    await em().execute(sql`create table migrated (id int); insert into migrated values (1)`);
    const read = prepare<Record<string, unknown>>('read-migrated', 'select *, pg_sleep(0.05) from migrated');
    const readThrice = () => Promise.all([1, 2, 3].map(() => read(em(), [])));
    await readThrice();
    await em().execute(sql`alter table migrated add column note text`);
    for (const [row] of [...(await readThrice()), ...(await readThrice())])
      expect(row).to.include({ id: 1, note: null });
  });
});
