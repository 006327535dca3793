// GET /api/admin/usage/summary: what all users spent and what the operator lost, as the ledger has it.
import { expect } from 'chai';
import { ALL_USAGE_GROUPS } from '../../../domain/usage.ts';
import { createAdministrator } from '../../support/administrators.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { addPastCall, addPastVideo, micro, readLedgerCharges, summarise } from '../../support/usage.ts';

const PATH = '/api/admin/usage/summary';
const IN_MAY = { from: '2026-05-01T00:00:00Z', to: '2026-06-01T00:00:00Z' };

describe('GET /api/admin/usage/summary', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let users: TestUser[];

  before(async () => {
    gateway = await startGateway({ worker: false });
    chief = await createAdministrator(gateway, ['usage.read']);
    users = [await gateway.createUser(), await gateway.createUser()];
    for (const [index, { id: userId }] of users.entries()) {
      const em = gateway.em();
      await addPastVideo(em, { userId, at: '2026-05-02T12:00:00Z', charge: 100 + index, loss: 3 });
      await addPastCall(em, { userId, at: '2026-05-03T12:00:00Z', charge: 10 + index, loss: 1 });
    }
    const [userId = ''] = users.map(({ id }) => id);
    await addPastCall(gateway.em(), { userId, at: '2026-05-03T19:00:00Z', charge: 1000, model: 'gone' });
  });
  after(() => gateway.stop());

  const read = (query: Record<string, string>) => summarise(chief.session, query, PATH);

  it('adds up to the whole ledger, by every interval and group', async () => {
    const charged = await readLedgerCharges(gateway.em());
    for (const interval of ['day', 'month'])
      for (const group of ALL_USAGE_GROUPS) {
        const { total } = await read({
          ...IN_MAY,
          interval,
          group,
          timezone: 'Asia/Kolkata',
        });
        expect(micro(total.credits), `${interval} ${group}`).to.equal(charged);
        expect([total.tasks, total.calls, micro(total.loss ?? 0)], group).to.deep.equal([2, 3, 8n]);
      }
  });

  it('is grouped by user and by family, with the loss of each', async () => {
    const of = async (group: string) =>
      (await read({ ...IN_MAY, interval: 'month', group })).data.map((row) => [
        row.group,
        Number(micro(row.credits)),
        Number(micro(row.loss ?? 0)),
      ]);
    const [first, second] = users.map(({ id }) => id).sort();
    expect(await of('user')).to.have.deep.members([
      [users[0]?.id, 1110, 4],
      [users[1]?.id, 112, 4],
    ]);
    expect((await of('user')).map(([group]) => group)).to.deep.equal([first, second]);
    const families = await of('family');
    expect(families).to.have.deep.members([
      ['grok', 201, 6],
      [gateway.services.catalog.models.get('gpt-6-luna')?.family, 21, 2],
      [null, 1000, 0],
    ]);
  });

  it('leaves the loss out of what users read', async () => {
    const query = new URLSearchParams(IN_MAY);
    const { body } = await (users[0] ?? chief).session.get(`/api/usage/summary?${query.toString()}`);
    expect(body.total).not.to.have.property('loss');
    expect(body.data[0]).not.to.have.property('loss');
  });
});
