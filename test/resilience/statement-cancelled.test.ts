// A statement that PostgreSQL ends, as at the time limit of a statement: the fault is ours, and it passes.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { expectError } from '../support/http/expect-error.ts';
import { startGateway, type TestGateway } from '../support/servers/gateway.ts';
import { until } from '../support/until.ts';

describe('a statement that the database cancels', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('is 503 service_unavailable, and the next request is answered', async () => {
    const owner = await gateway.createUser();
    await gateway.em().transactional(async (tx) => {
      await tx.execute('lock table account in access exclusive mode');
      const stuck = owner.key.get('/v1/balance');
      await until('the request waits and is cancelled', async () => {
        const rows = await gateway.em().execute<object[]>(sql`
          select pg_cancel_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`);
        return rows.length > 0;
      });
      expectError(await stuck, 503, 'service_unavailable');
    });
    expect((await owner.key.get('/v1/balance')).status).to.equal(200);
  });
});
