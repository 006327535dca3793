// What administrators read of users: found by their address, with account and last use.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { createAdministrator } from '../../support/administrators.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const USERS = '/api/admin/users';

describe('users as administrators read them', () => {
  let gateway: TestGateway;
  let chief: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());

  const find = async (query: string): Promise<string[]> => {
    const { body } = await chief.session.get(`${USERS}?${query}`);
    return body.data.map(({ email }: { email: string }) => email);
  };
  const make = async (email: string): Promise<void> => {
    const { status } = await chief.session.post(USERS, { email, password: 'long enough' });
    expect(status).to.equal(201);
  };

  it('are found by the beginning of the address, in any case, newest first', async () => {
    for (const email of ['ann@example.com', 'anna@example.com', 'joan@example.com', 'a_b@example.com'])
      await make(email);
    expect(await find('q=ANN')).to.deep.equal(['anna@example.com', 'ann@example.com']);
    expect(await find('q=ann@')).to.deep.equal(['ann@example.com']);
    expect(await find('q=a_')).to.deep.equal(['a_b@example.com']);
    for (const nothing of ['q=%25', 'q=nn', 'q=a%5C', 'q=ann&email=joan@example.com'])
      expect(await find(nothing), nothing).to.deep.equal([]);
    expect(await find('q=ann&limit=1')).to.deep.equal(['anna@example.com']);
    expectError(await chief.session.get(`${USERS}?q=`), 400, 'invalid_value', 'q');
  });

  it('come with what their account holds, and whether it is frozen', async () => {
    const owner = await gateway.createUser(50);
    const order = { mode: 'image', model: 'gpt-image-2', prompt: 'x' };
    expect((await owner.session.post('/api/tasks', order)).status).to.equal(202);
    const { body } = await chief.session.get(`${USERS}/${owner.id}`);
    expect(body.data).to.include({ id: owner.id, balance: 50, reserved: 4, frozen: false, disabled: false });
    await gateway.em().execute(sql`update account set frozen_at = now() where user_id = ${owner.id}`);
    const [listed] = (await chief.session.get(`${USERS}?email=${owner.email}`)).body.data;
    expect(listed).to.deep.equal({ ...body.data, frozen: true });
    expectError(await chief.session.get(`${USERS}/${makeId('usr')}`), 404, 'not_found');
    expectError(await chief.session.get(`${USERS}/x`), 404, 'not_found');
  });

  it('were last seen with a session, a key, or at their last login', async () => {
    const owner = await gateway.createUser(0);
    const { email, password } = owner;
    const lastSeen = async (): Promise<string> => {
      const { body } = await chief.session.get(`${USERS}/${owner.id}`);
      return body.data.lastSeenAt;
    };
    const at = (minute: number): string => `2026-01-01T00:0${minute}:00.000Z`;
    await gateway.em().execute(sql`update session set last_seen_at = ${at(1)} where user_id = ${owner.id}`);
    expect(await lastSeen()).to.equal(at(1));
    await gateway.em().execute(sql`update api_key set last_used_at = ${at(2)} where user_id = ${owner.id}`);
    expect(await lastSeen()).to.equal(at(2));
    expect((await gateway.anonymous.post('/api/auth/login', { email, password })).status).to.equal(200);
    await gateway.em().execute(sql`delete from session where user_id = ${owner.id}`);
    expect(Date.parse(await lastSeen())).to.be.closeTo(Date.now(), 10_000);
  });
});
