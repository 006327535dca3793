// /api/keys: what the owner of keys may see and change, and what is never shown.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { API_KEYS_PER_USER_MAX } from '../../../api/console/keys.ts';
import { makeId } from '../../../db/ids.ts';
import { LastUses } from '../../../db/keys/last-uses.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const KEYS = '/api/keys';
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString();
const ENTRY_FIELDS = [
  ...['id', 'name', 'prefix', 'quota', 'used', 'dailyBudget', 'modelScope', 'expiresAt', 'createdAt'],
  ...['lastUsedAt', 'revokedAt'],
];

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

  const create = async (fields: object = {}, user = owner) => {
    const { status, body } = await user.session.post(KEYS, { name: 'Build server', ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.data;
  };
  const list = async (query = '', user = owner) => (await user.session.get(`${KEYS}${query}`)).body;
  const entryOf = async (id: string, user = owner) =>
    (await list('?limit=100', user)).data.find((entry: { id: string }) => entry.id === id);
  const callWith = (key: string, path = '/v1/models') =>
    gateway.anonymous.get(path, { authorization: `Bearer ${key}` });

  describe('POST', () => {
    it('makes a key without limits that works at once', async () => {
      const { status, body, headers } = await owner.session.post(KEYS, { name: 'Plain' });
      expect(status).to.equal(201);
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(body.data).to.have.all.keys(...ENTRY_FIELDS, 'key');
      expect(body.data).to.deep.include({ name: 'Plain', quota: null, used: 0, dailyBudget: null });
      expect(body.data).to.deep.include({
        modelScope: null,
        expiresAt: null,
        lastUsedAt: null,
        revokedAt: null,
      });
      expect(body.data.key).to.match(/^sk-svc_[0-9A-Za-z]{49}$/);
      expect(body.data.prefix).to.equal(body.data.key.slice(0, 15));
      expect((await callWith(body.data.key)).status).to.equal(200);
    });

    it('keeps every limit as it was given', async () => {
      const limits = {
        ...{
          name: '  Ünïcode 🔑 ',
          quota: 12.345678,
          dailyBudget: 0,
          expiresAt: '2099-12-31T23:59:59.5+02:00',
        },
        modelScope: ['gpt-image-2', 'grok-imagine-video', 'gpt-image-2'],
      };
      const { id, key } = await create(limits);
      const entry = await entryOf(id);
      expect(entry).to.deep.include({ name: 'Ünïcode 🔑', quota: 12.345678, dailyBudget: 0, used: 0 });
      expect(entry.modelScope).to.deep.equal(['gpt-image-2', 'grok-imagine-video']);
      expect(entry.expiresAt).to.equal('2099-12-31T21:59:59.500Z');
      expect((await callWith(key)).body.data).to.have.length(2);
    });

    it('shows the key there and nowhere else, not even in the database or the log', async () => {
      const { id, key } = await create();
      await callWith(key);
      const secret = key.slice(15);
      const elsewhere = [
        JSON.stringify(await list('?limit=100')),
        JSON.stringify(await owner.session.patch(`${KEYS}/${id}`, { name: 'Renamed' })),
        JSON.stringify(await owner.session.delete(`${KEYS}/${id}`)),
        gateway.logged(),
        ...(await readWholeDatabase(gateway)).values(),
      ];
      for (const text of elsewhere) expect(text).not.to.contain(secret);
    });

    const big = 10_000_000;
    const good: [title: string, fields: object][] = [
      ['a name of 100 characters', { name: '🔑'.repeat(100) }],
      ['the largest quota', { quota: big }],
      ['one micro-credit', { quota: 0.000001, dailyBudget: 0.000001 }],
      ['no limits, said aloud', { quota: null, dailyBudget: null, modelScope: null, expiresAt: null }],
      ['29 February of a leap year', { expiresAt: '2096-02-29T00:00:00Z' }],
    ];
    for (const [title, fields] of good) it(`takes ${title}`, () => create(fields));

    const bad: [title: string, fields: object, code: string, param: string][] = [
      ['no name', { name: undefined }, 'missing_field', 'name'],
      ['an empty name', { name: '' }, 'invalid_value', 'name'],
      ['a name of spaces', { name: '   ' }, 'invalid_value', 'name'],
      ['a name of 101 characters', { name: 'x'.repeat(101) }, 'invalid_value', 'name'],
      ['a name that is a number', { name: 1 }, 'invalid_value', 'name'],
      ['a negative quota', { quota: -1 }, 'invalid_value', 'quota'],
      ['7 decimals', { quota: 0.0000001 }, 'invalid_value', 'quota'],
      ['7 decimals behind a number', { dailyBudget: 1.0000001 }, 'invalid_value', 'dailyBudget'],
      ['a quota as a text', { quota: '5' }, 'invalid_value', 'quota'],
      ['more than the largest quota', { quota: big + 0.000001 }, 'invalid_value', 'quota'],
      ['a quota beyond all numbers', { dailyBudget: 1e300 }, 'invalid_value', 'dailyBudget'],
      ['an empty scope', { modelScope: [] }, 'invalid_value', 'modelScope'],
      ['a scope that is a text', { modelScope: 'gpt-image-2' }, 'invalid_value', 'modelScope'],
      ['101 models', { modelScope: Array(101).fill('gpt-image-2') }, 'invalid_value', 'modelScope'],
      ['an unknown model', { modelScope: ['gpt-image-2', 'x'] }, 'invalid_value', 'modelScope[1]'],
      ['a name that every object has', { modelScope: ['toString'] }, 'invalid_value', 'modelScope[0]'],
      ['a model that is null', { modelScope: [null] }, 'invalid_value', 'modelScope[0]'],
      ['an end in the past', { expiresAt: '2020-01-01T00:00:00Z' }, 'invalid_value', 'expiresAt'],
      ['a date that no calendar has', { expiresAt: '2096-02-30T00:00:00Z' }, 'invalid_value', 'expiresAt'],
      ['a date without a time', { expiresAt: '2096-02-28' }, 'invalid_value', 'expiresAt'],
      ['a time without an offset', { expiresAt: '2096-02-28T00:00:00' }, 'invalid_value', 'expiresAt'],
      ['a time without seconds', { expiresAt: '2096-02-28T00:00Z' }, 'invalid_value', 'expiresAt'],
      ['an offset of a day', { expiresAt: '2096-02-28T00:00:00+24:00' }, 'invalid_value', 'expiresAt'],
      ['hour 24', { expiresAt: '2096-02-28T24:00:00Z' }, 'invalid_value', 'expiresAt'],
      ['the year 10000', { expiresAt: '9999-12-31T23:59:59-01:00' }, 'invalid_value', 'expiresAt'],
      ['an English date', { expiresAt: 'tomorrow' }, 'invalid_value', 'expiresAt'],
      ['Unix seconds', { expiresAt: 4_000_000_000 }, 'invalid_value', 'expiresAt'],
      ['a field that is not the caller’s', { used: 0 }, 'invalid_request', 'used'],
      ['a key of one’s own', { key: 'sk-svc_x' }, 'invalid_request', 'key'],
    ];
    for (const [title, fields, code, param] of bad)
      it(`refuses ${title}: 400 ${code}, and makes nothing`, async () => {
        const count = await countKeys();
        const answer = await owner.session.post(KEYS, { name: 'x', ...fields });
        expectError(answer, 400, code, param);
        expect(await countKeys()).to.equal(count);
      });

    const countKeys = async () => {
      const [row] = await gateway.em().execute<{ count: string }[]>(sql`select count(*) from api_key`);
      return row?.count;
    };

    it('makes no more than 100 keys that live, however many ask at once; a revoked one makes room', async () => {
      const user = await gateway.createUser(0);
      const rest = API_KEYS_PER_USER_MAX - 1; // the user came with one
      const asked = Array.from({ length: rest + 15 }, (_, n) => user.session.post(KEYS, { name: `${n}` }));
      const answers = await Promise.all(asked);
      expect(answers.filter(({ status }) => status === 201)).to.have.length(rest);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expectError(answer, 409, 'key_limit_reached', null);
        expect(answer.headers.get('x-should-retry')).to.equal('false');
      }
      const { data } = await list('?limit=100', user);
      await user.session.delete(`${KEYS}/${data[0].id}`);
      await create({}, user);
      expectError(await user.session.post(KEYS, { name: 'x' }), 409, 'key_limit_reached', null);
      await create({}, stranger);
    });
  });

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
