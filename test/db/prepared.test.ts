// Prepared statements: each connection knows them by name, through the migrations of a later release.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { forkEm, type Em } from '../../db/database.ts';
import { prepare } from '../../db/prepared.ts';
import { createDatabase } from '../support/servers/database.ts';
import { until } from '../support/until.ts';

/** An advisory lock by which statements are held. */
const LOCK = 7;

describe('a prepared statement', () => {
  let stored: Awaited<ReturnType<typeof createDatabase>>;
  const em = (): Em => forkEm(stored.database);

  const countWaiting = async (): Promise<number> => {
    const [row] = await em().execute<{ waiting: number }[]>(sql`
      select count(*)::int as waiting from pg_locks l join pg_database d on d.oid = l.database
      where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`);
    return row?.waiting ?? 0;
  };

  before(async () => {
    stored = await createDatabase();
  });
  after(() => stored.drop());

  it('goes on when a migration adds a column to what it reads, on each connection that knew it', async () => {
    await em().execute(sql`create table migrated (id int); insert into migrated values (1)`);
    const read = prepare<Record<string, unknown>>(
      'read-migrated',
      `select *, pg_advisory_xact_lock_shared(${LOCK})::text from migrated`,
    );
    /** At the same time, so that each has a connection of its own. */
    const readThrice = () =>
      em().transactional(async (holder) => {
        await holder.execute(sql`select pg_advisory_xact_lock(${LOCK})`);
        const reading = Promise.all([1, 2, 3].map(() => read(em(), [])));
        await until('three wait for the lock', async () => (await countWaiting()) === 3);
        return { reading };
      });
    await (
      await readThrice()
    ).reading;
    await em().execute(sql`alter table migrated add column note text`);
    const rows = [await (await readThrice()).reading, await (await readThrice()).reading].flat();
    for (const [row] of rows) expect(row).to.include({ id: 1, note: null });
  });

  it('takes each text in an array for what it is, and numbers and nothing beside it', async () => {
    const texts = [
      '',
      'NULL',
      'null',
      ' a ',
      '"',
      '\\',
      '\\"',
      '{a,b}',
      ',',
      '\n\t\r',
      'ä€😀',
      "'",
      '$&',
      null,
    ];
    const read = prepare<{ texts: string[]; amounts: string; flags: boolean[] }>(
      'read-arrays',
      'select $1::text[] as texts, $2::bigint[]::text as amounts, $3::boolean[] as flags, $4::text[] as none',
    );
    const amounts = [0, -1, 9_007_199_254_740_993n, null];
    const [row] = await read(em(), [texts, amounts, [true, false, null], []]);
    const sent = { texts, amounts: '{0,-1,9007199254740993,NULL}', flags: [true, false, null], none: [] };
    expect(row).to.deep.equal(sent);
  });
});
