// Users for administrators: making, finding, changing them, and giving them credits.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { PERMISSIONS, type Permission } from '../../../domain/permissions.ts';
import { createAdministrator, readAudit, setVerified } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Answer } from '../../support/http/http.ts';

const USERS = '/api/admin/users';
const PASSWORD = 'a long enough password';

describe('users for administrators', () => {
  let gateway: TestGateway;
  let chief: TestUser;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    owner = await gateway.createUser(10);
  });
  afterEach(() => gateway.expectSoundMoney());

  let count = 0;
  const freshEmail = () => `person${(count += 1)}@example.com`;
  const create = (fields: object, by = chief): Promise<Answer> =>
    by.session.post(USERS, { email: freshEmail(), password: PASSWORD, ...fields });
  const change = (id: string, fields: object, by = chief): Promise<Answer> =>
    by.session.patch(`${USERS}/${id}`, fields);
  const grantTo = (id: string, fields: object, by = chief): Promise<Answer> =>
    by.session.post(`${USERS}/${id}/grants`, { credits: 5, note: 'Sorry', ...fields });
  const logIn = (email: string, password: string): Promise<Answer> =>
    gateway.anonymous.post('/api/auth/login', { email, password });
  const actionsOn = async (id: string) => (await readAudit(gateway, id)).map(({ action }) => action);

  describe('POST', () => {
    it('makes a user who can log in, with an empty account', async () => {
      const email = freshEmail();
      const { status, body } = await create({
        email: ` ${email.toUpperCase()} `,
        permissions: ['audit.read'],
      });
      expect(status).to.equal(201);
      const { id, createdAt } = body.data;
      expect(body.data).to.deep.equal({
        id,
        email,
        permissions: ['audit.read'],
        disabled: false,
        twoFactorEnabled: false,
        createdAt,
        ...{ balance: 0, reserved: 0, frozen: false, lastSeenAt: null },
      });
      expect((await logIn(email, PASSWORD)).status).to.equal(200);
      const [entry, ...more] = await readAudit(gateway, id);
      expect(more).to.deep.equal([]);
      expect(entry).to.include({ action: 'CREATE_USER', actorId: chief.id });
      expect(entry?.detail).to.deep.equal({ email, permissions: ['audit.read'] });
      expect(JSON.stringify(entry)).not.to.contain(PASSWORD);
    });

    it('refuses an address that is taken, also when two come at once', async () => {
      const before = await readAudit(gateway);
      expectError(await create({ email: owner.email.toUpperCase() }), 409, 'email_taken');
      expect(await readAudit(gateway)).to.deep.equal(before);
      const email = freshEmail();
      const statuses = (await Promise.all([create({ email }), create({ email })])).map(
        ({ status }) => status,
      );
      expect(statuses).to.have.members([201, 409]);
    });

    it('refuses wrong fields', async () => {
      for (const email of ['x', 'a b@example.com', '', 5, null, `${'a'.repeat(250)}@example.com`])
        expectError(await create({ email }), 400, 'invalid_value', 'email');
      for (const password of ['1234567', 'x'.repeat(257), 5, ''])
        expectError(await create({ password }), 400, 'invalid_value', 'password');
      expectError(await create({ permissions: ['root'] }), 400, 'invalid_value', 'permissions[0]');
      expectError(await create({ balance: 5 }), 400, 'invalid_request', 'balance');
      expectError(await chief.session.post(USERS, { email: 'a@b.co' }), 400, 'missing_field', 'password');
    });

    it('gives no permission that the maker does not have', async () => {
      const clerk = await createAdministrator(gateway, ['users.write', 'audit.read']);
      expectError(await create({ permissions: ['tasks.read'] }, clerk), 403, 'permission_denied');
      expect((await create({ permissions: ['audit.read'] }, clerk)).status).to.equal(201);
    });
  });

  describe('GET', () => {
    it('lists newest first in pages and finds one by the address', async () => {
      const first = await chief.session.get(`${USERS}?limit=1`);
      expect(first.body.data.map(({ id }: { id: string }) => id)).to.deep.equal([owner.id]);
      expect(first.body).to.include({ hasMore: true, nextCursor: owner.id });
      const second = await chief.session.get(`${USERS}?limit=1&cursor=${owner.id}`);
      expect(second.body.data[0].id < owner.id).to.equal(true);
      const found = await chief.session.get(`${USERS}?email=${owner.email.toUpperCase()}`);
      expect(found.body).to.deep.include({ hasMore: false, nextCursor: null });
      expect(found.body.data.map(({ email }: { email: string }) => email)).to.deep.equal([owner.email]);
      expect((await chief.session.get(`${USERS}?email=nobody@example.com`)).body.data).to.deep.equal([]);
      expect(JSON.stringify(found.body).replaceAll(owner.id, '')).not.to.match(/hash|argon|secret/i);
    });
  });

  describe('PATCH', () => {
    it('changes permissions from the next request on, and writes nothing when nothing changes', async () => {
      const input = { permissions: ['tasks.read', 'audit.read', 'tasks.read'] };
      const { status, body } = await change(owner.id, input);
      expect(status).to.equal(200);
      expect(body.data.permissions).to.deep.equal(['tasks.read', 'audit.read']);
      expect((await owner.session.get('/api/admin/tasks')).status).to.equal(200);
      for (const same of [
        { permissions: ['audit.read', 'tasks.read'] },
        { disabled: false },
        {},
        { frozen: false },
      ])
        expect((await change(owner.id, same)).body.data).to.deep.equal(body.data);
      expect(await readAudit(gateway, owner.id)).to.deep.equal([
        {
          action: 'UPDATE_USER',
          actorId: chief.id,
          targetId: owner.id,
          detail: { permissions: ['tasks.read', 'audit.read'] },
        },
      ]);
      await change(owner.id, { permissions: [] });
      expectError(await owner.session.get('/api/admin/tasks'), 403, 'permission_denied');
    });

    it('disables: sessions and keys stop, and nobody logs in until it is lifted; sessions end with that', async () => {
      const { body } = await change(owner.id, { disabled: true });
      expect(body.data.disabled).to.equal(true);
      expectError(await owner.session.get('/api/auth/me'), 403, 'account_disabled');
      expectError(await owner.key.get('/v1/balance'), 403, 'account_disabled');
      expectError(await logIn(owner.email, owner.password), 403, 'account_disabled');
      await change(owner.id, { disabled: false });
      expectError(await owner.session.get('/api/auth/me'), 401, 'not_authenticated');
      expect((await logIn(owner.email, owner.password)).status).to.equal(200);
      expect((await owner.key.get('/v1/balance')).status).to.equal(200);
      expect(await actionsOn(owner.id)).to.deep.equal(['UPDATE_USER', 'UPDATE_USER']);
    });

    it('sets a password: the old one and all sessions are good for nothing', async () => {
      const { status } = await change(owner.id, { password: PASSWORD });
      expect(status).to.equal(200);
      expectError(await owner.session.get('/api/auth/me'), 401, 'not_authenticated');
      expectError(await logIn(owner.email, owner.password), 401, 'invalid_credentials');
      expect((await logIn(owner.email, PASSWORD)).status).to.equal(200);
      const [entry] = await readAudit(gateway, owner.id);
      expect(entry?.detail).to.deep.equal({ passwordChanged: true });
    });

    it('refuses wrong fields and unknown users', async () => {
      expectError(await change(owner.id, { disabled: 'yes' }), 400, 'invalid_value', 'disabled');
      expectError(await change(owner.id, { frozen: true }), 400, 'invalid_value', 'frozen');
      expectError(await change(owner.id, { password: 'short' }), 400, 'invalid_value', 'password');
      expectError(await change(owner.id, { email: 'new@example.com' }), 400, 'invalid_request', 'email');
      for (const id of [makeId('usr'), 'me', makeId('rdm')])
        expectError(await change(id, { disabled: true }), 404, 'not_found');
      expect(await readAudit(gateway, owner.id)).to.deep.equal([]);
    });

    it('lets nobody disable themselves', async () => {
      await createAdministrator(gateway); // so that it is not for being the last one
      expectError(await change(chief.id, { disabled: true }), 403, 'permission_denied');
      expect((await chief.session.get('/api/auth/me')).status).to.equal(200);
      expect(gateway.logged()).to.contain('"route":"PATCH /api/admin/users/:id","code":"permission_denied"');
    });

    it('lets nobody raise or take over somebody mightier', async () => {
      const permissions: Permission[] = ['users.write', 'tasks.read'];
      const clerk = await createAdministrator(gateway, permissions);
      expectError(
        await change(owner.id, { permissions: ['credits.grant'] }, clerk),
        403,
        'permission_denied',
      );
      expectError(await change(clerk.id, { permissions: [...PERMISSIONS] }, clerk), 403, 'permission_denied');
      expectError(await change(chief.id, { password: PASSWORD }, clerk), 403, 'permission_denied');
      expectError(await change(chief.id, { disabled: true }, clerk), 403, 'permission_denied');
      expect((await change(owner.id, { permissions: ['tasks.read'] }, clerk)).status).to.equal(200);
      expect((await chief.session.get('/api/auth/me')).status).to.equal(200);
    });

    it('lifts a freeze, once, as an audit entry of its own', async () => {
      await gateway.em().execute(sql`update account set frozen_at = now() where user_id = ${owner.id}`);
      const order = { mode: 'image', model: 'gpt-image-2', prompt: 'x' };
      expectError(await owner.session.post('/api/tasks', order), 403, 'account_disabled');
      expect((await owner.session.get('/api/balance')).status).to.equal(200);
      await change(owner.id, { frozen: false });
      await change(owner.id, { frozen: false });
      expect((await owner.session.post('/api/tasks', order)).status).to.equal(202);
      expect(await actionsOn(owner.id)).to.deep.equal(['UNFREEZE_ACCOUNT']);
    });
  });

  describe('POST …/grants', () => {
    it('adds credits, with the note in the ledger and an audit entry', async () => {
      const { status, body } = await grantTo(owner.id, { credits: 2.5, note: ' For the trouble ' });
      expect(status).to.equal(201);
      const { ledgerEntryId } = body.data;
      expect(body.data).to.deep.equal({ ledgerEntryId, balance: 12.5, available: 12.5 });
      const { ledger } = (await owner.session.get('/api/balance?includeLedger=1')).body.data;
      const expected = { id: ledgerEntryId, type: 'grant', amount: 2.5, description: 'For the trouble' };
      expect(ledger[0]).to.include(expected);
      const [entry, ...more] = await readAudit(gateway, owner.id);
      expect(more).to.deep.equal([]);
      expect(entry).to.include({ action: 'GRANT_CREDITS', actorId: chief.id });
      expect(entry?.detail).to.deep.equal({ credits: 2.5, note: 'For the trouble', ledgerEntryId });
    });

    it('refuses wrong amounts, notes and users', async () => {
      for (const credits of [0, -1, '5', 0.0000001, 10_000_001, null])
        expectError(await grantTo(owner.id, { credits }), 400, 'invalid_value', 'credits');
      for (const note of ['', '  ', 'x'.repeat(201), 5])
        expectError(await grantTo(owner.id, { note }), 400, 'invalid_value', 'note');
      for (const id of [makeId('usr'), 'x']) expectError(await grantTo(id, {}), 404, 'not_found');
      const rich = await gateway.createUser(8_999_999_999);
      expectError(await grantTo(rich.id, { credits: 2 }), 409, 'balance_limit');
      expect(await readAudit(gateway, owner.id)).to.deep.equal([]);
      expect((await owner.session.get('/api/balance')).body.data.balance).to.equal(10);
    });

    it('adds up in parallel', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => grantTo(owner.id, { credits: 1 })));
      expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([201]));
      expect((await owner.session.get('/api/balance')).body.data.balance).to.equal(30);
      expect(await readAudit(gateway, owner.id)).to.have.length(20);
    });

    it('needs a fresh verification', async () => {
      const clerk = await createAdministrator(gateway, ['credits.grant']);
      await setVerified(gateway, clerk, false);
      expectError(await grantTo(owner.id, {}, clerk), 403, 'verification_required');
    });
  });
});
