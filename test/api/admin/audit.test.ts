// The audit log: what stands in it, who reads it, and that it cannot be changed.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createAdministrator, makeCode } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

interface Entry {
  action: string;
  target: { type: string; id: string };
}

const AUDIT = '/api/admin/audit-entries';

describe('GET /api/admin/audit-entries', () => {
  let gateway: TestGateway;
  let chief: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());

  it('tells every change once, newest first, in pages and by action', async () => {
    const owner = await gateway.createUser(0);
    const { id: codeId } = await makeCode(chief);
    await chief.session.patch(`/api/admin/redeem-codes/${codeId}`);
    await chief.session.post('/api/admin/users', { email: 'new@example.com', password: 'long enough' });
    await chief.session.patch(`/api/admin/users/${owner.id}`, { permissions: ['tasks.read'] });
    await chief.session.post(`/api/admin/users/${owner.id}/grants`, { credits: 1, note: 'Hello' });
    const { body } = await chief.session.get(AUDIT);
    const actions = body.data.map(({ action }: { action: string }) => action);
    expect(actions).to.deep.equal([
      'GRANT_CREDITS',
      'UPDATE_USER',
      'CREATE_USER',
      'DISABLE_REDEEM_CODE',
      'CREATE_REDEEM_CODE',
    ]);
    for (const entry of body.data) {
      expect(entry).to.have.all.keys(
        ...['id', 'action', 'actor', 'target', 'ip', 'userAgent', 'requestId', 'detail', 'createdAt'],
      );
      expect(entry.actor).to.deep.equal({ id: chief.id, email: chief.email });
      expect(entry.target).to.have.all.keys('type', 'id');
      expect(entry).to.include({ ip: '127.0.0.1' });
    }
    const page = (await chief.session.get(`${AUDIT}?limit=2`)).body;
    expect(page).to.include({ hasMore: true, nextCursor: body.data[1].id });
    const rest = (await chief.session.get(`${AUDIT}?cursor=${page.nextCursor}`)).body;
    expect([...page.data, ...rest.data]).to.deep.equal(body.data);
    const only = (await chief.session.get(`${AUDIT}?action=DISABLE_REDEEM_CODE`)).body.data;
    expect(only.map(({ target }: Entry) => target.id)).to.deep.equal([codeId]);
    expectError(await chief.session.get(`${AUDIT}?action=SLEEP`), 400, 'invalid_value', 'action');
  });

  it('finds what one user did, what was done to one thing, and what happened in a time', async () => {
    const other = await createAdministrator(gateway);
    const owner = await gateway.createUser(0);
    await makeCode(other);
    const begun = new Date().toISOString();
    for (const note of ['First', 'Second'])
      await other.session.post(`/api/admin/users/${owner.id}/grants`, { credits: 1, note });
    const find = async (query: string): Promise<string[]> => {
      const { body } = await chief.session.get(`${AUDIT}?${query}`);
      return body.data.map(({ action }: Entry) => action);
    };
    const grants = ['GRANT_CREDITS', 'GRANT_CREDITS'];
    expect(await find(`actor=${other.id}`)).to.deep.equal([...grants, 'CREATE_REDEEM_CODE']);
    expect(await find(`target=${owner.id}`)).to.deep.equal(grants);
    expect(await find(`actor=${other.id}&from=${begun}`)).to.deep.equal(grants);
    expect(await find(`actor=${other.id}&to=${begun}`)).to.deep.equal(['CREATE_REDEEM_CODE']);
    expect(await find(`actor=${other.id}&from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z`)).to.deep.equal(
      [],
    );
    expect(await find(`target=${owner.id}&from=1960-01-01T00:00:00Z`)).to.deep.equal(grants);
    expect(await find(`target=${owner.id}&to=1960-01-01T00:00:00Z`)).to.deep.equal([]);
    for (const [name, value] of [
      ['actor', 'x'],
      ['target', ''],
      ['from', 'yesterday'],
      ['to', '2020-01-01'],
    ])
      expectError(await chief.session.get(`${AUDIT}?${name}=${value}`), 400, 'invalid_value', name);
  });

  it('cannot be changed or emptied, not even in the database', async () => {
    await makeCode(chief);
    for (const statement of [
      sql`update audit_entry set action = 'NOTHING'`,
      sql`delete from audit_entry`,
      sql`truncate audit_entry`,
    ]) {
      const refusal = await gateway
        .em()
        .execute(statement)
        .then(
          () => null,
          (error: unknown) => error,
        );
      expect(String(refusal)).to.contain('rows of audit_entry are never changed');
    }
  });
});
