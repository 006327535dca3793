// A video that is deleted while the storage is away: nothing shows its file, until the sweeper removes it.
import { expect } from 'chai';
import { sweepDeletedVideos } from '../../../activities/sweep-videos.ts';
import { createAdministrator } from '../../support/administrators.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { StorageUnavailable } from '../../../storage/storage.ts';

describe('DELETE /v1/videos/:id while the storage is away', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let chief: TestUser;

  before(async () => {
    gateway = await startGateway();
    owner = await gateway.createUser(1000);
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());

  it('answers 200, links to the file no more, and the file is gone after the next round of the sweeper', async () => {
    const order = { model: 'grok-imagine-video', prompt: 'waves [[sandbox seconds=0]]', duration: 1 };
    const made = await owner.key.post('/v1/videos/generations', order, { prefer: 'wait=60' });
    const { id, outputUrl } = made.body.data;
    const { storage } = gateway.services;
    const away = (): never => {
      throw new StorageUnavailable(new Error('the bucket is away'));
    };
    gateway.services.storage = { ...storage, delete: async () => away() };
    const deleted = await owner.key.delete(`/v1/videos/${id}`);
    gateway.services.storage = storage;
    expect([deleted.status, deleted.body.deleted]).to.deep.equal([200, true]);

    const own = (await owner.session.get(`/api/tasks/${id}`)).body.data;
    expect(own).to.deep.include({ status: 'completed', outputUrl: null, outputs: [] });
    const [listed] = (await owner.session.get('/api/tasks')).body.data;
    expect(listed).to.deep.equal(own);
    const foreign = (await chief.session.get(`/api/admin/tasks/${id}`)).body.data;
    expect(foreign).to.deep.include({ status: 'completed', outputUrl: null, outputs: [] });

    await sweepDeletedVideos({ database: gateway.database, storage });
    expect((await fetch(outputUrl)).status).to.equal(404);
  });
});
