// The pool of database connections: opened before they are needed, or when they are.
import { expect } from 'chai';
import { forkEm } from '../../db/database.ts';
import { openDatabase } from '../../db/open-database.ts';
import { openConnections, readPoolMetrics } from '../../db/pool.ts';
import { findFreePort } from '../../dev/servers/ports.ts';
import { createDatabase, type TestDatabase } from '../support/servers/database.ts';

const CONNECTIONS = 5;

describe('the connections of a process', () => {
  let created: TestDatabase;
  before(async () => {
    created = await createDatabase(1);
  });
  after(() => created.drop());

  it('are all open and free before a request needs one, and serve as others do', async () => {
    const database = openDatabase({ url: created.url, connectionsMax: CONNECTIONS, keepsConnections: true });
    expect(readPoolMetrics(database)).to.include({ open: 0, max: CONNECTIONS });
    await openConnections(database);
    const whole = { open: CONNECTIONS, idle: CONNECTIONS, waiting: 0, max: CONNECTIONS };
    expect(readPoolMetrics(database)).to.deep.equal(whole);
    expect(await forkEm(database).execute('select 1 as one')).to.deep.equal([{ one: 1 }]);
    expect(readPoolMetrics(database)).to.deep.equal(whole);
    await database.close();
  });

  it('are opened when needed if the database is away at first', async () => {
    const url = new URL(created.url);
    url.port = String(await findFreePort());
    const database = openDatabase({ url: url.href, connectionsMax: CONNECTIONS, keepsConnections: true });
    await openConnections(database);
    expect(readPoolMetrics(database)).to.include({ open: 0, waiting: 0 });
    await database.close();
  });
});
