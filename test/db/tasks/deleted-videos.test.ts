// Which files a deleted video takes with it.
import { Readable } from 'node:stream';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { orderVideo } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';

describe('a video that its owner deletes', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  for (const [outcome, directive] of [
    ['was completed', 'seconds=0'],
    ['failed', 'seconds=0 outcome=fail'],
  ] as const)
    it(`and that ${outcome} takes with it what another attempt had stored`, async () => {
      const { storage } = gateway.services;
      const owner = await gateway.createUser(100);
      const { id } = await orderVideo(owner.session, directive);
      await untilFinal(owner.session, id);
      const leftover = `results/${id}/2/0.mp4`;
      const outputs = JSON.stringify([{ key: leftover, contentType: 'video/mp4', bytes: 1 }]);
      await storage.write(leftover, Readable.from(['x']), { contentType: 'video/mp4' });
      await gateway.em().execute(sql`
        insert into submission (task_id, attempt, state, family, outputs)
        select task_id, 2, 'succeeded', family, ${outputs}::jsonb from submission where task_id = ${id}`);
      expect((await owner.key.delete(`/v1/videos/${id}`)).status).to.equal(200);
      expect(await storage.size(leftover)).to.equal(null);
    });
});
