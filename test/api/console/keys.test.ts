// /api/keys: what an owner sees of keys, how they are changed and revoked, and what others are refused.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { makeId } from '../../../db/ids.ts';
import { LastUses } from '../../../db/keys/last-uses.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { callWithKey, createKey, findKey, KEYS, listKeys } from '../../support/keys.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();

describe('/api/keys', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let stranger: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
    stranger = await gateway.createUser();
  });
  after(() => gateway.stop());

  const create = (fields: object = {}, user = owner) => createKey(user, fields);
  const list = (query = '', user = owner) => listKeys(user, query);
  const entryOf = (id: string, user = owner) => findKey(user, id);
  const callWith = (key: string, path?: string) => callWithKey(gateway, key, path);

  describe('GET', () => {
    it('lists own keys, newest first, page by page', async () => {
      const user = await gateway.createUser(0);
      const made = [user.keyId];
      for (const name of ['1', '2', '3', '4']) made.unshift((await create({ name }, user)).id);
      const pages = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page = await list(`?limit=2${cursor ? `&cursor=${cursor}` : ''}`, user);
        expect(page).to.have.all.keys('data', 'hasMore', 'nextCursor');
        expect(page.hasMore).to.equal(page.nextCursor !== null);
        pages.push(page.data.map(({ id }: { id: string }) => id));
        cursor = page.nextCursor;
      }
      expect(pages.map((page) => page.length)).to.deep.equal([2, 2, 1]);
      expect(pages.flat()).to.have.members(made);
      const times = (await list('', user)).data.map(({ createdAt }: { createdAt: string }) => createdAt);
      expect(times).to.deep.equal(times.toSorted().toReversed());
    });

    it('shows revoked keys too, and nobody else’s', async () => {
      const { id } = await create();
      await owner.session.delete(`${KEYS}/${id}`);
      expect((await entryOf(id)).revokedAt).to.be.a('string');
      expect(await entryOf(id, stranger)).to.equal(undefined);
    });

    for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=x', `cursor=${makeId('task')}`])
      it(`refuses ?${query}`, async () => {
        const answer = await owner.session.get(`${KEYS}?${query}`);
        expectError(answer, 400, 'invalid_value', query.split('=')[0]);
      });

    it('tells when a key was last used, written together and at most once a minute', async () => {
      const { lastUses } = gateway.services;
      const [one, other] = [await create(), await create()];
      await callWith(one.key);
      await callWith(other.key);
      expect((await entryOf(one.id)).lastUsedAt).to.equal(null);
      await lastUses.flush();
      const first = (await entryOf(one.id)).lastUsedAt;
      expect(Date.now() - Date.parse(first)).to.be.within(0, 10_000);
      expect((await entryOf(other.id)).lastUsedAt).to.be.a('string');

      await callWith(one.key);
      lastUses.record({ id: one.id, lastUsedAt: null }, new Date()); // as another process that had read it earlier
      await lastUses.flush();
      expect((await entryOf(one.id)).lastUsedAt).to.equal(first);

      await gateway
        .em()
        .execute(sql`update api_key set last_used_at = now() - interval '61 seconds' where id = ${one.id}`);
      await callWith(one.key);
      await lastUses.flush();
      expect(Date.parse((await entryOf(one.id)).lastUsedAt)).to.be.at.least(Date.parse(first));
    });

    it('leaves a key that is busy for the next time, and holds up nobody', async () => {
      const { lastUses } = gateway.services;
      const [busy, free] = [await create(), await create()];
      await callWith(busy.key);
      await callWith(free.key);
      await gateway.em().transactional(async (tx) => {
        await tx.execute(sql`select 1 from api_key where id = ${busy.id} for update`);
        await lastUses.flush();
      });
      expect((await entryOf(free.id)).lastUsedAt).to.be.a('string');
      expect((await entryOf(busy.id)).lastUsedAt).to.equal(null);
      await lastUses.flush();
      expect((await entryOf(busy.id)).lastUsedAt).to.be.a('string');
    });

    it('does not lose a use when the process stops', async () => {
      const { id } = await create();
      const lastUses = new LastUses(gateway.database, gateway.services.log);
      lastUses.start();
      lastUses.record({ id, lastUsedAt: null });
      await lastUses.stop();
      expect((await entryOf(id)).lastUsedAt).to.be.a('string');
    });

    it('does not count a refused key as used', async () => {
      const { id, key } = await create();
      await owner.session.delete(`${KEYS}/${id}`);
      await callWith(key);
      await gateway.services.lastUses.flush();
      expect((await entryOf(id)).lastUsedAt).to.equal(null);
    });
  });

  describe('PATCH', () => {
    it('changes what is named and leaves the rest', async () => {
      const limits = { quota: 5, dailyBudget: 1, modelScope: ['gpt-image-2'], expiresAt: TOMORROW };
      const { id, key: _key, ...before } = await create(limits);
      const changes = [
        { name: 'Renamed' },
        { quota: 7.5 },
        { dailyBudget: null },
        { modelScope: ['grok-imagine-video'] },
        { modelScope: null, expiresAt: null, quota: null },
        {},
      ];
      let wanted = { id, ...before };
      for (const change of changes) {
        wanted = { ...wanted, ...change };
        const { status, body } = await owner.session.patch(`${KEYS}/${id}`, change);
        expect(status).to.equal(200);
        expect(body.data).to.deep.equal(wanted);
        expect(await entryOf(id)).to.deep.equal(wanted);
      }
    });

    it('gives an expired key a later end', async () => {
      const { id, key } = await create({ expiresAt: TOMORROW });
      await gateway
        .em()
        .execute(sql`update api_key set expires_at = now() - interval '1 second' where id = ${id}`);
      expectError(await callWith(key), 401, 'expired_api_key', null);
      await owner.session.patch(`${KEYS}/${id}`, { expiresAt: TOMORROW });
      expect((await callWith(key)).status).to.equal(200);
    });

    for (const [fields, code, param] of [
      [{ name: null }, 'invalid_value', 'name'],
      [{ quota: -0.5 }, 'invalid_value', 'quota'],
      [{ modelScope: ['x'] }, 'invalid_value', 'modelScope[0]'],
      [{ expiresAt: '2026-02-30T00:00:00Z' }, 'invalid_value', 'expiresAt'],
      [{ revokedAt: null }, 'invalid_request', 'revokedAt'],
      [{ used: 0 }, 'invalid_request', 'used'],
    ] as const)
      it(`refuses ${JSON.stringify(fields)} and changes nothing`, async () => {
        const { id, key: _key, ...before } = await create();
        const answer = await owner.session.patch(`${KEYS}/${id}`, { ...fields });
        expectError(answer, 400, code, param);
        expect(await entryOf(id)).to.deep.equal({ id, ...before });
      });

    it('cannot bring a revoked key back, or change it: 409', async () => {
      const { id } = await create();
      await owner.session.delete(`${KEYS}/${id}`);
      const before = await entryOf(id);
      for (const change of [{ name: 'x' }, { expiresAt: TOMORROW }, {}]) {
        const answer = await owner.session.patch(`${KEYS}/${id}`, change);
        expectError(answer, 409, 'key_revoked', null);
        expect(answer.headers.get('x-should-retry')).to.equal('false');
      }
      expect(await entryOf(id)).to.deep.equal(before);
    });
  });

  describe('DELETE', () => {
    it('revokes: the key is refused from then on; again: the same answer', async () => {
      const { id, key: text, ...entry } = await create({ quota: 5 });
      const first = await owner.session.delete(`${KEYS}/${id}`);
      expect(first.status).to.equal(200);
      const { revokedAt, ...rest } = first.body.data;
      expect(Date.now() - Date.parse(revokedAt)).to.be.within(-1000, 10_000);
      expect({ ...rest, revokedAt: null }).to.deep.equal({ id, ...entry });
      const second = await owner.session.delete(`${KEYS}/${id}`);
      expect(second.status).to.equal(200);
      expect(second.body).to.deep.equal(first.body);
      for (const path of ['/v1/models', '/v1/balance', '/api/usage/token'])
        expectError(await callWith(text, path), 401, 'invalid_api_key', null);
    });
  });

  it('answers a foreign, a missing and a malformed id alike: 404', async () => {
    const { id, key } = await create();
    const before = await entryOf(id);
    const headers = { 'x-request-id': 'same' };
    for (const act of [
      (which: string) => stranger.session.patch(`${KEYS}/${which}`, { name: 'Mine' }, headers),
      (which: string) => stranger.session.delete(`${KEYS}/${which}`, headers),
    ]) {
      const missing = await act(makeId('key'));
      expectError(missing, 404, 'not_found', null);
      for (const which of [id, 'x', makeId('task'), id.toLowerCase()]) {
        const answer = await act(which);
        expect(answer.status, which).to.equal(404);
        expect(answer.body, which).to.deep.equal(missing.body);
      }
    }
    expect(await entryOf(id)).to.deep.equal(before);
    expect((await callWith(key)).status).to.equal(200);
  });

  it('belongs to the session: a key cannot make, read or change keys', async () => {
    for (const act of [
      () => owner.key.get(KEYS),
      () => owner.key.post(KEYS, { name: 'x' }),
      () => owner.key.patch(`${KEYS}/${owner.keyId}`, { quota: null }),
      () => owner.key.delete(`${KEYS}/${owner.keyId}`),
    ])
      expectError(await act(), 401, 'not_authenticated', null);
  });
});
