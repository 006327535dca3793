// The webhooks of all users for administrators: where each is, what is pending, and what became of each
// delivery, without what is its owner's.
import { expect } from 'chai';
import { createAdministrator } from '../../support/administrators.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { makeWebhook, startReceiver, untilDelivery, type Receiver } from '../../support/webhooks.ts';

describe('GET /api/admin/webhooks', () => {
  let gateway: TestGateway;
  let receiver: Receiver;
  let chief: TestUser;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ webhooks: { retryDelaysMs: [3_600_000] } });
    receiver = await startReceiver((res, { path }) => {
      res.writeHead(path.startsWith('/fails') ? 500 : 200).end('a word of the owner');
    });
    chief = await createAdministrator(gateway, ['tasks.read']);
    owner = await gateway.createUser();
  });
  after(async () => {
    await receiver.close();
    await gateway.stop();
  });

  const read = async (path: string) => (await chief.session.get(`/api/admin/webhooks${path}`)).body;

  it('shows how each does and what is pending, without the path of its address', async () => {
    const works = await makeWebhook(owner.session, {
      url: `${receiver.url}/secret-path`,
      description: 'mine',
    });
    const fails = await makeWebhook(owner.session, { url: `${receiver.url}/fails` });
    for (const { id } of [works, fails]) await owner.session.post(`/api/webhooks/${id}/test`);
    await untilDelivery(owner.session, works.id, 'delivered');
    await receiver.until('/fails', 1);
    const [sent] = (await owner.session.get(`/api/webhooks/${fails.id}/deliveries`)).body.data;
    const stranger = await gateway.createUser();
    await makeWebhook(stranger.session, { url: receiver.url });

    const body = await read(`?userId=${owner.id}`);
    expect(body.data.map(({ id }: { id: string }) => id)).to.deep.equal([fails.id, works.id]);
    const pending = { first: 0, again: 1, oldestAt: sent.createdAt };
    expect(body.data[0]).to.deep.include({ userId: owner.id, origin: receiver.url, pending });
    expect(body.data[0].failingSince).to.be.a('string');
    expect(body.data[1].pending).to.deep.equal({ first: 0, again: 0, oldestAt: null });
    expect(JSON.stringify(body)).not.to.match(/secret-path|mine|whsec/);

    const failing = await read('?status=failing');
    expect(failing.data.map(({ id }: { id: string }) => id)).to.deep.equal([fails.id]);
    expect((await read('?status=working')).data).to.have.length(2);
    await owner.session.patch(`/api/webhooks/${fails.id}`, { disabled: true });
    expect((await read('?status=disabled')).data[0]).to.include({ id: fails.id, disabledReason: 'owner' });
    expect(await read('?limit=1')).to.include({ hasMore: true });
  });

  it('shows every delivery with what came of it, without the words of the answer', async () => {
    const { id } = await makeWebhook(owner.session, { url: `${receiver.url}/one` });
    await owner.session.post(`/api/webhooks/${id}/test`);
    const { answer, ...own } = await untilDelivery(owner.session, id, 'delivered');
    expect(answer?.body).to.equal('a word of the owner');
    expect((await read(`/${id}/deliveries`)).data).to.deep.equal([{ ...own, answerStatus: 200 }]);
  });
});
