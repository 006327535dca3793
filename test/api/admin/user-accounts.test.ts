// What administrators read of one user: keys, sessions, the statement of the account, and usage of it alone.
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { createAdministrator } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { orderImage } from '../../support/tasks.ts';
import { untilFinal } from '../../support/until.ts';

describe('one user as administrators read it', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let user: TestUser;

  before(async () => {
    gateway = await startGateway();
    chief = await createAdministrator(gateway);
    [user] = [await gateway.createUser(50), await gateway.createUser(60)];
  });
  after(() => gateway.stop());

  const read = async (path: string) => (await chief.session.get(`/api/admin/users/${user.id}/${path}`)).body;

  it('has the keys and sessions that the user sees, none of them the one that asks, and no secret', async () => {
    const [keys, sessions] = [await read('keys'), await read('sessions')];
    expect(keys).to.deep.equal((await user.session.get('/api/keys')).body);
    const own = (await user.session.get('/api/auth/sessions')).body;
    expect(sessions.data).to.deep.equal(own.data.map((one: object) => ({ ...one, current: false })));
    expect(JSON.stringify(keys)).not.to.contain(user.apiKey);
  });

  it('has the statement of its own account, by pages, newest first', async () => {
    const { id } = await orderImage(user.session);
    const { creditsCharged } = await untilFinal(user.session, id);
    const { ledger } = (await user.session.get('/api/balance?includeLedger=1')).body.data;
    const first = await read('ledger-entries?limit=1');
    expect(first).to.deep.equal({ data: [ledger[0]], hasMore: true, nextCursor: '2' });
    const rest = await read(`ledger-entries?cursor=${first.nextCursor}`);
    expect(rest).to.deep.equal({ data: ledger.slice(1), hasMore: false, nextCursor: null });
    const { data: task } = (await chief.session.get(`/api/admin/tasks/${id}`)).body;
    expect(task.ledger).to.deep.equal([ledger[0]]);
    const usage = await chief.session.get(`/api/admin/usage/summary?userId=${user.id}`);
    expect(usage.body.total).to.deep.include({ credits: creditsCharged, tasks: 1 });
    const nobody = await chief.session.get(`/api/admin/usage/summary?userId=${makeId('usr')}`);
    expect(nobody.body.data).to.deep.equal([]);
  });

  it('is missing for an id that no user has, and refused for a cursor that is none', async () => {
    for (const part of ['keys', 'sessions', 'ledger-entries']) {
      const path = `/api/admin/users/${makeId('usr')}/${part}`;
      expectError(await chief.session.get(path), 404, 'not_found');
      const wrong = await chief.session.get(`/api/admin/users/${user.id}/${part}?cursor=x`);
      expectError(wrong, 400, 'invalid_value', 'cursor');
    }
  });
});
