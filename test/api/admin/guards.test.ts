// Who may do what: every caller against every administration route, before a body is looked at.
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { PERMISSIONS, type Permission } from '../../../domain/permissions.ts';
import { ADMIN_ROUTES } from '../../../api/admin/routes.ts';
import { createAdministrator, readAudit, setPermissions, setVerified } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Actor, Answer } from '../../support/http/http.ts';

interface Guarded {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  permission: Permission;
  stepUp: boolean;
  /** The answer to a permitted caller whose request is wrong otherwise. */
  status: number;
}

const nobody = makeId('usr');
const nothing = makeId('rdm');
const noTask = makeId('task');
const noWebhook = makeId('whk');
const ROUTES: Guarded[] = [
  { ...at('POST', '/redeem-codes'), permission: 'redemption.sensitive_write', stepUp: true, status: 400 },
  { ...at('GET', '/redeem-codes'), permission: 'redemption.read', stepUp: false, status: 200 },
  { ...at('GET', `/redeem-codes/${nothing}`), permission: 'redemption.read', stepUp: false, status: 404 },
  {
    ...at('PATCH', `/redeem-codes/${nothing}`),
    permission: 'redemption.sensitive_write',
    stepUp: true,
    status: 404,
  },
  { ...at('POST', '/users'), permission: 'users.write', stepUp: true, status: 400 },
  { ...at('GET', '/users'), permission: 'users.read', stepUp: false, status: 200 },
  { ...at('GET', `/users/${nobody}`), permission: 'users.read', stepUp: false, status: 404 },
  { ...at('GET', `/users/${nobody}/keys`), permission: 'users.read', stepUp: false, status: 404 },
  { ...at('GET', `/users/${nobody}/sessions`), permission: 'users.read', stepUp: false, status: 404 },
  { ...at('GET', `/users/${nobody}/ledger-entries`), permission: 'users.read', stepUp: false, status: 404 },
  { ...at('PATCH', `/users/${nobody}`), permission: 'users.write', stepUp: true, status: 400 },
  { ...at('POST', `/users/${nobody}/grants`), permission: 'credits.grant', stepUp: true, status: 400 },
  { ...at('GET', '/tasks'), permission: 'tasks.read', stepUp: false, status: 200 },
  { ...at('GET', `/tasks/${noTask}`), permission: 'tasks.read', stepUp: false, status: 404 },
  { ...at('GET', '/webhooks'), permission: 'tasks.read', stepUp: false, status: 200 },
  { ...at('GET', `/webhooks/${noWebhook}/deliveries`), permission: 'tasks.read', stepUp: false, status: 404 },
  { ...at('GET', '/health'), permission: 'system.read', stepUp: false, status: 200 },
  { ...at('GET', '/audit-entries'), permission: 'audit.read', stepUp: false, status: 200 },
  { ...at('GET', '/usage/summary'), permission: 'usage.read', stepUp: false, status: 200 },
  { ...at('GET', '/usage/failures'), permission: 'usage.read', stepUp: false, status: 200 },
];

describe('the guards of /api/admin', () => {
  let gateway: TestGateway;
  let user: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    user = await gateway.createUser(0);
  });
  after(() => gateway.stop());

  /** Sends a body that no route accepts, so that the order of guard and validation shows. */
  const call = (actor: Actor, { method, path }: Guarded): Promise<Answer> => {
    if (method === 'GET') return actor.get(path);
    return actor.send(method, path, {
      body: '{"credits":"a lot","unknown":1}',
      headers: { 'content-type': 'application/json' },
    });
  };

  it('stand in this table for every route there is', () => {
    const mounted = ADMIN_ROUTES.filter(({ path }) => path.startsWith('/api/admin/'));
    const seen = mounted.map(({ method, path, ...rest }) => ({
      route: `${method} ${path}`,
      permission: 'permission' in rest && rest.permission,
      stepUp: 'stepUp' in rest,
    }));
    const wanted = ROUTES.map(({ method, path, permission, stepUp }) => ({
      route: `${method} ${path.replace(/(usr|rdm|task|whk)_\w+/, ':id')}`,
      permission,
      stepUp,
    }));
    expect(seen).to.deep.equal(wanted);
  });

  for (const route of ROUTES)
    describe(`${route.method} ${route.path.replace(/(usr|rdm|task|whk)_\w+/, ':id')}`, () => {
      it('is not for strangers, keys and users', async () => {
        expectError(await call(gateway.anonymous, route), 401, 'not_authenticated');
        expectError(await call(user.key, route), 401, 'not_authenticated');
        await setPermissions(gateway, user, []);
        await setVerified(gateway, user, true);
        expectError(await call(user.session, route), 403, 'permission_denied');
      });

      for (const permission of PERMISSIONS)
        for (const verified of [false, true])
          it(`with ${permission} alone, ${verified ? '' : 'not '}verified`, async () => {
            await setPermissions(gateway, user, [permission]);
            await setVerified(gateway, user, verified);
            const answer = await call(user.session, route);
            if (permission !== route.permission) expectError(answer, 403, 'permission_denied');
            else if (route.stepUp && !verified) expectError(answer, 403, 'verification_required');
            else expect(answer.status, JSON.stringify(answer.body)).to.equal(route.status);
          });
    });

  it('let nobody pass whose permission was taken away a moment ago', async () => {
    const chief = await createAdministrator(gateway);
    expect((await chief.session.get('/api/admin/tasks')).status).to.equal(200);
    await setPermissions(gateway, chief, []);
    expectError(await chief.session.get('/api/admin/tasks'), 403, 'permission_denied');
  });

  it('write refusals to the log, without what was sent, and never to the audit log', async () => {
    await setPermissions(gateway, user, []);
    const before = await readAudit(gateway);
    const path = '/api/admin/redeem-codes/rdm_hush';
    await user.session.patch(path, { code: 'hush' });
    const lines = gateway.logged().trim().split('\n');
    const refusals = lines.filter((line) => line.includes('a request was refused'));
    const { level, userId, route, code, msg } = JSON.parse(refusals.at(-1) ?? '{}');
    expect({ level, userId, route, code, msg }).to.deep.equal({
      level: 'warn',
      userId: user.id,
      route: 'PATCH /api/admin/redeem-codes/:id',
      code: 'permission_denied',
      msg: 'a request was refused',
    });
    expect(lines.filter((line) => line.includes('hush'))).to.deep.equal([]);
    expect(await readAudit(gateway)).to.deep.equal(before);
  });
});

function at(method: Guarded['method'], path: string): Pick<Guarded, 'method' | 'path'> {
  return { method, path: `/api/admin${path}` };
}
