// The pool of database connections: opened before they are needed, or when they are.
import { expect } from 'chai';
import { forkEm } from '../../db/database.ts';
import { openDatabase } from '../../db/open-database.ts';
import { readPoolMetrics } from '../../db/pool.ts';
import { findFreePort } from '../../dev/servers/ports.ts';
import { until } from '../support/until.ts';
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
    const whole = { open: CONNECTIONS, idle: CONNECTIONS, waiting: 0, max: CONNECTIONS };
    await until('all are open', async () => readPoolMetrics(database).idle === CONNECTIONS);
    expect(readPoolMetrics(database)).to.deep.equal(whole);
    expect(await forkEm(database).execute('select 1 as one')).to.deep.equal([{ one: 1 }]);
    expect(readPoolMetrics(database)).to.deep.equal(whole);
    await database.close();
  });

  it('are asked for again when needed, if the database is away at first', async () => {
    const url = new URL(created.url);
    url.port = String(await findFreePort());
    const database = openDatabase({ url: url.href, connectionsMax: CONNECTIONS, keepsConnections: true });
    const failure = await forkEm(database)
      .execute('select 1')
      .catch((error: unknown) => String(error));
    expect(failure).to.contain('ECONNREFUSED');
    await until('none is being opened', async () => readPoolMetrics(database).open === 0);
    await database.close();
  });
});
