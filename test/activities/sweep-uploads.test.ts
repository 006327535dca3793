// The sweeper among uploads: expired ones go, those that an open task needs stay, leftovers of a crash go.
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { sweepUploads } from '../../activities/sweep-uploads.ts';
import { makeId } from '../../db/ids.ts';
import { activitiesOf } from '../support/servers/engine.ts';
import { startGateway, type TestGateway, type TestUser } from '../support/servers/gateway.ts';
import { ageUpload, filesIn, makeVideo, upload } from '../support/uploads.ts';

const HOUR_MS = 3_600_000;

describe('sweeping uploads', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(1_000_000);
  });
  after(() => gateway.stop());

  const sweep = () => sweepUploads(gateway.services);
  const make = async (): Promise<{ id: string; url: string; name: string }> => {
    const { body } = await upload(owner.key, makeVideo());
    return { id: body.data.id, url: body.data.url, name: `${body.data.id}.mp4` };
  };
  const rowsOf = (id: string) => gateway.em().execute(sql`select 1 from upload where id = ${id}`);
  const isThere = async ({ id, name }: { id: string; name: string }): Promise<boolean[]> => [
    (await rowsOf(id)).length > 0,
    (await filesIn(gateway)).includes(name),
  ];
  const store = (key: string) =>
    gateway.services.storage.write(key, Readable.from(['x']), { contentType: 'video/mp4' });

  it('removes row and file of what has expired, again and again, and leaves the rest', async () => {
    const [old, young] = [await make(), await make()];
    await ageUpload(gateway, old.id, 24);
    await ageUpload(gateway, young.id, 23);
    await Promise.all([sweep(), sweep()]);
    await sweep();
    expect(await isThere(old)).to.deep.equal([false, false]);
    expect(await isThere(young)).to.deep.equal([true, true]);
  });

  it('comes with the slow round of the sweeper', async () => {
    const old = await make();
    await ageUpload(gateway, old.id, 24);
    await activitiesOf(gateway).removeOldRequests();
    expect(await isThere(old)).to.deep.equal([false, false]);
  });

  it('leaves what an open task was ordered with, and removes it when that has ended', async () => {
    const used = await make();
    const order = { mode: 'video', model: 'seedance-2.0-mini', prompt: 'x', video_urls: [used.url] };
    const { status, body } = await owner.session.post('/api/tasks', order);
    expect(status, JSON.stringify(body)).to.equal(202);
    await ageUpload(gateway, used.id, 48);
    await sweep();
    expect(await isThere(used)).to.deep.equal([true, true]);
    await owner.session.delete(`/api/tasks/${body.data.id}`);
    await sweep();
    expect(await isThere(used)).to.deep.equal([false, false]);
  });

  it('removes what its owner deleted while the storage was away', async () => {
    const deleted = await make();
    await gateway.em().execute(sql`update upload set state = 'removed' where id = ${deleted.id}`);
    await sweep();
    expect(await isThere(deleted)).to.deep.equal([false, false]);
  });

  it('removes files without a row after an hour, and leaves younger ones and what is no upload', async () => {
    const old = { id: makeId('file', Date.now() - 2 * HOUR_MS), name: '' };
    const young = { id: makeId('file'), name: '' };
    for (const file of [old, young]) {
      file.name = `${file.id}.mp4`;
      await store(`uploads/${file.name}`);
    }
    await store('uploads/something.else');
    await store('results/task_1/1/0.png');
    await sweep();
    const files = await filesIn(gateway);
    expect(files).not.to.include(old.name);
    expect(files).to.include.members([young.name, 'something.else', '0.png']);
  });

  it('takes no file for old because the clock of its worker was set ahead', async () => {
    const name = `${makeId('file')}.mp4`;
    await store(`uploads/${name}`);
    const { now } = Date;
    Date.now = () => now() + 2 * HOUR_MS;
    await sweep().finally(() => (Date.now = now));
    expect(await filesIn(gateway)).to.include(name);
  });

  it('drops rows without a file after an hour', async () => {
    const [old, young] = [await make(), await make()];
    for (const { name } of [old, young]) await gateway.services.storage.delete(`uploads/${name}`);
    await ageUpload(gateway, old.id, 2);
    await sweep();
    expect(await rowsOf(old.id)).to.have.length(0);
    expect(await rowsOf(young.id)).to.have.length(1);
  });

  it('removes unfinished files after an hour', async () => {
    const incoming = join(gateway.config.dataDir, 'storage', '.incoming');
    await mkdir(incoming, { recursive: true });
    for (const [name, hours] of [
      ['old.part', 2],
      ['young.part', 0],
    ] as const) {
      await writeFile(join(incoming, name), 'x');
      const at = new Date(Date.now() - hours * HOUR_MS);
      await utimes(join(incoming, name), at, at);
    }
    await sweep();
    const files = await filesIn(gateway);
    expect(files).to.include('young.part').and.not.include('old.part');
  });
});
