// A retry of a failed video and its deletion at the same moment: what was deleted is not made again.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { raceRetries } from '../../support/retry-races.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { orderVideo } from '../../support/tasks.ts';

const TIMES = 40;

describe('a retry and the deletion of one failed video at the same moment', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(100_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  it(`${TIMES} times: none is deleted and open`, async () => {
    const order = () => orderVideo(owner.session);
    const remove = (id: string) => owner.key.delete(`/v1/videos/${id}`);
    await raceRetries({ gateway, owner, order, remove }, TIMES);
    const both = await gateway
      .em()
      .execute(sql`select id from task where deleted_at is not null and status in ('queued', 'in_progress')`);
    expect(both).to.deep.equal([]);
  });
});
