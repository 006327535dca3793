// The audit log: what stands in it, who reads it, and that it cannot be changed.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { createAdministrator, makeCode } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

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
        ...['id', 'action', 'actorId', 'targetType', 'targetId', 'ip', 'userAgent', 'requestId', 'detail'],
        'createdAt',
      );
      expect(entry).to.include({ actorId: chief.id, ip: '127.0.0.1' });
    }
    const page = (await chief.session.get(`${AUDIT}?limit=2`)).body;
    expect(page).to.include({ hasMore: true, nextCursor: body.data[1].id });
    const rest = (await chief.session.get(`${AUDIT}?cursor=${page.nextCursor}`)).body;
    expect([...page.data, ...rest.data]).to.deep.equal(body.data);
    const only = (await chief.session.get(`${AUDIT}?action=DISABLE_REDEEM_CODE`)).body.data;
    expect(only.map(({ targetId }: { targetId: string }) => targetId)).to.deep.equal([codeId]);
    expectError(await chief.session.get(`${AUDIT}?action=SLEEP`), 400, 'invalid_value', 'action');
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
