// The last enabled user who may change users stays one: without one, only the command line could help.
import { expect } from 'chai';
import { PERMISSIONS } from '../../../domain/permissions.ts';
import { createAdministrator, setPermissions } from '../../support/administrators.ts';
import { sortedStatuses } from '../../support/http/browser.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const DEMOTED = PERMISSIONS.filter((permission) => permission !== 'users.write');

describe('the last administrator', () => {
  let gateway: TestGateway;
  let chief: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  beforeEach(async () => {
    if (chief) await setPermissions(gateway, chief, []);
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());

  const change = (target: TestUser, fields: object, by = chief): Promise<Answer> =>
    by.session.patch(`/api/admin/users/${target.id}`, fields);
  const canAdminister = async (who: TestUser): Promise<boolean> =>
    (await who.session.get('/api/auth/me')).body.data.permissions.includes('users.write');

  it('can neither be demoted nor disabled: 409; other changes are fine', async () => {
    for (const fields of [
      { permissions: DEMOTED },
      { permissions: [] },
      { disabled: true },
      { permissions: DEMOTED, password: 'a new long sentence' },
    ])
      expectError(await change(chief, fields), 409, 'last_administrator', null);
    expect(await canAdminister(chief)).to.equal(true);
    const fewer = PERMISSIONS.filter((permission) => permission !== 'tasks.read');
    expect((await change(chief, { permissions: fewer })).status).to.equal(200);
  });

  it('is not the last while there is another one who is enabled', async () => {
    const other = await createAdministrator(gateway, ['users.write']);
    expect((await change(other, { disabled: true })).status).to.equal(200);
    expectError(await change(chief, { permissions: DEMOTED }), 409, 'last_administrator');
    expect((await change(other, { disabled: false })).status).to.equal(200);
    expect((await change(chief, { permissions: DEMOTED })).status).to.equal(200);
    await setPermissions(gateway, other, []);
  });

  it('remains, however many step down at once', async () => {
    const others = await Promise.all([1, 2, 3].map(() => createAdministrator(gateway)));
    const all = [chief, ...others];
    const answers = await Promise.all(all.map((who) => change(who, { permissions: DEMOTED }, who)));
    expect(sortedStatuses(answers)).to.deep.equal([200, 200, 200, 409]);
    const left = await Promise.all(all.map(canAdminister));
    expect(left.filter((is) => is)).to.have.length(1);
    for (const who of others) await setPermissions(gateway, who, []);
  });
});
