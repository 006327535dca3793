// The figures that operators are woken by, as the database has them.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { readMetricsSnapshot } from '../../db/metrics-snapshot.ts';
import { startGateway, type TestGateway } from '../support/servers/gateway.ts';
import { orderImage } from '../support/tasks.ts';

const HOUR_SECONDS = 3_600;

describe('the snapshot of metrics', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('counts the age of a queued task from its order, and of one in progress from the start of the work', async () => {
    const owner = await gateway.createUser(10_000);
    const { id } = await orderImage(owner.session);
    const ageOf = async (status: string): Promise<number | undefined> =>
      (await readMetricsSnapshot(gateway.database)).openTasks.find((open) => open.status === status)
        ?.oldestSeconds;
    await gateway.em().execute(sql`update task set created_at = now() - interval '5 hours' where id = ${id}`);
    expect(await ageOf('queued')).to.be.within(5 * HOUR_SECONDS, 6 * HOUR_SECONDS);
    await gateway
      .em()
      .execute(sql`update task set status = 'in_progress', started_at = now() where id = ${id}`);
    expect(await ageOf('in_progress')).to.be.below(HOUR_SECONDS);
  });
});
