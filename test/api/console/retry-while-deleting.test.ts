// A retry of a failed video and its deletion at the same moment: what was deleted is not made again.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { failTask } from '../../../db/tasks/settlement.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { orderVideo } from '../../support/tasks.ts';

const TIMES = 40;
const AT_ONCE = 10;
const FAILURE = { code: 'upstream_error', message: 'The provider failed.' } as const;

describe('a retry and the deletion of one failed video at the same moment', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(100_000);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  async function createFailedVideo(): Promise<string> {
    const { id } = await orderVideo(owner.session);
    await failTask(gateway.em(), { taskId: id, attempt: 1 }, FAILURE);
    return id;
  }

  it(`${TIMES} times: none is deleted and open`, async () => {
    for (let done = 0; done < TIMES; done += AT_ONCE) {
      const ids = await Promise.all(Array.from({ length: AT_ONCE }, createFailedVideo));
      await Promise.all(
        ids.map(async (id) => {
          const [retried, deleted] = await Promise.all([
            owner.session.post(`/api/tasks/${id}/retry`),
            owner.key.delete(`/v1/videos/${id}`),
          ]);
          expect(retried.status, JSON.stringify(retried.body)).to.be.oneOf([202, 409]);
          expect(deleted.status, JSON.stringify(deleted.body)).to.be.oneOf([200, 202, 409]);
        }),
      );
    }
    const both = await gateway
      .em()
      .execute(sql`select id from task where deleted_at is not null and status in ('queued', 'in_progress')`);
    expect(both).to.deep.equal([]);
  });
});
