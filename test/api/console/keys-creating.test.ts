// POST /api/keys: the limits that a key may have, how many keys a user may have, and where the key is shown.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { API_KEYS_PER_USER_MAX } from '../../../api/console/keys.ts';
import { readWholeDatabase } from '../../support/everything.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { callWithKey, createKey, findKey, KEYS, listKeys } from '../../support/keys.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';

const ENTRY_FIELDS = [
  ...[
    'id',
    'name',
    'prefix',
    'quota',
    'used',
    'dailyBudget',
    'reserved',
    'usedToday',
    'dailyResetsAt',
    'modelScope',
    'expiresAt',
    'createdAt',
  ],
  ...['lastUsedAt', 'revokedAt'],
];

describe('POST /api/keys', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let stranger: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser();
    await owner.verify();
    stranger = await gateway.createUser();
  });
  after(() => gateway.stop());

  const create = (fields: object = {}, user = owner) => createKey(user, fields);
  const list = (query = '', user = owner) => listKeys(user, query);
  const entryOf = (id: string, user = owner) => findKey(user, id);
  const callWith = (key: string, path?: string) => callWithKey(gateway, key, path);

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

  it('asks for a fresh proof of identity, before it looks at the body', async () => {
    const user = await gateway.createUser(0);
    expectError(await user.session.post(KEYS, { name: 'Mine' }), 403, 'verification_required', null);
    expectError(await user.session.post(KEYS, {}), 403, 'verification_required', null);
    expect((await list('', user)).data).to.have.length(1);
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
    await user.verify();
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
