// What holds on every route: ids of requests, the shape of errors, unknown routes and methods, who may come
// in.
import { sql } from '@mikro-orm/postgresql';
import { expect } from 'chai';
import { ROUTES } from '../../../api/app.ts';
import type { Route } from '../../../api/context.ts';
import { RESULT_ROUTE } from '../../../api/tasks/results.ts';
import { createApiKey } from '../../../db/keys/api-keys.ts';
import { ApiKeyEntity } from '../../../db/entities/identity.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import { sendRaw } from '../../support/http/raw.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const ERROR_MEMBERS = ['message', 'type', 'param', 'code', 'request_id'];
/** The one route that answers without a proof and without a body. */
const OPEN_ROUTE = '/api/console';
const example = (path: string): string => path.replaceAll(/:\w+/g, 'x');

describe('every route', () => {
  let gateway: TestGateway;
  let owner: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(0);
  });
  after(() => gateway.stop());

  const raw = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await sendRaw(gateway.baseUrl, { method, path, headers });
    return { ...answer, body: JSON.parse(answer.text) };
  };

  describe('answers an error', () => {
    for (const { method, path, proof } of ROUTES.filter(({ path }) => path !== OPEN_ROUTE))
      it(`in one shape: ${method} ${path} without a proof`, async () => {
        const { status, headers, body } = await raw(method, example(path));
        expect(status).to.be.within(400, 499);
        if (proof !== 'none')
          expectError({ status, body }, 401, proof === 'key' ? 'missing_api_key' : 'not_authenticated', null);
        expect(headers['content-type']).to.equal('application/json; charset=utf-8');
        expect(headers['cache-control']).to.equal('no-store');
        expect(headers['x-content-type-options']).to.equal('nosniff');
        expect(headers['x-powered-by']).to.equal(undefined);
        expect(body).to.have.all.keys('error');
        expect(body.error).to.have.all.keys(...ERROR_MEMBERS);
        expect(body.error.request_id).to.equal(headers['x-request-id']);
        if (proof === 'key') expect(headers['www-authenticate']).to.equal('Bearer');
      });

    it('of our own with a fixed text; the cause is only in the log', async () => {
      const { catalog } = gateway.services;
      gateway.services.catalog = {
        effectiveFrom: '',
        get models(): never {
          throw new Error('password of the database: swordfish');
        },
      };
      const answer = await owner.key.get('/v1/models', { 'x-request-id': 'find-me' });
      gateway.services.catalog = catalog;
      expectError(answer, 500, 'internal_error', null);
      expect(answer.body.error.message).to.equal('Something went wrong on our side.');
      expect(JSON.stringify(answer.body)).not.to.contain('swordfish');
      expect(gateway.logged()).to.contain('find-me');
    });
  });

  describe('carries x-request-id', () => {
    for (const id of ['a', 'trace-1.2_3', 'x'.repeat(64)])
      it(`of the caller: ${id}`, async () => {
        for (const path of ['/v1/balance', '/v1/nope', '/v1/images/tasks/x'])
          expect((await owner.key.get(path, { 'x-request-id': id })).headers.get('x-request-id')).to.equal(
            id,
          );
      });

    for (const [title, id] of [
      ['empty', ''],
      ['too long', 'x'.repeat(65)],
      ['far too long', 'x'.repeat(5000)],
      ['with spaces', 'a b'],
      ['with an accent', 'é'],
      ['with a slash', '../x'],
      ['with markup', '<script>'],
    ] as const)
      it(`of our own where the caller’s is ${title}`, async () => {
        const { status, headers } = await owner.key.get('/v1/balance', { 'x-request-id': id });
        expect(status).to.equal(200);
        expect(headers.get('x-request-id')).not.to.equal(id);
      });

    it('of our own, another each time, where the caller sends none', async () => {
      const ids = await Promise.all(
        [1, 2].map(async () => (await owner.key.get('/v1/balance')).headers.get('x-request-id')),
      );
      expect(new Set(ids).size).to.equal(2);
    });
  });

  describe('that does not exist', () => {
    const paths = [
      '/v1',
      '/v1/nope',
      '/api/nope',
      '/index.html',
      '/.env',
      '/v1/images',
      '/v1/balance/x',
      '/results',
      '/results/a/b',
      '/__proto__',
    ];
    for (const path of paths)
      it(`is 404 in JSON, with and without a key: ${path}`, async () => {
        for (const actor of [gateway.anonymous, owner.key, owner.session]) {
          expectError(await actor.get(path), 404, 'route_not_found', null);
          expectError(await actor.post(path, {}), 404, 'route_not_found', null);
        }
      });

    for (const path of ['/v1/images/tasks/%E0%A4%A', '/api/tasks/%', '/v1/models/%ZZ', '/results/%/1/0.png'])
      it(`is 400 in JSON when the path is badly encoded: ${path}`, async () => {
        const { status, body } = await raw('GET', path, { authorization: `Bearer ${owner.apiKey}` });
        expectError({ status, body }, 400, 'invalid_request', null);
      });
  });

  describe('with a method it does not know', () => {
    const paths = new Map<string, Set<string>>([[RESULT_ROUTE, new Set(['GET', 'HEAD'])]]);
    for (const { method, path } of ROUTES) {
      const known = paths.get(path) ?? new Set();
      paths.set(path, known.add(method));
      if (method === 'GET') known.add('HEAD');
    }
    for (const [path, known] of paths)
      it(`is 405 and says what it knows: ${path}`, async () => {
        for (const method of METHODS.filter((name) => !known.has(name))) {
          const { status, headers, body } = await raw(method, example(path));
          expectError({ status, body }, 405, 'method_not_allowed', null);
          expect(headers.allow?.split(', '), method).to.have.members([...known]);
        }
      });
  });

  describe('that answers somebody', () => {
    it('forbids caches to keep it', async () => {
      for (const { method, path, proof } of ROUTES.filter(
        (route: Route) => route.method === 'GET' && !route.path.includes(':') && !route.endless,
      )) {
        const actor = proof === 'session' ? owner.session : owner.key;
        const { headers } = await actor.send(method, path);
        expect(headers.get('cache-control'), path).to.equal('no-store');
        expect(headers.get('etag'), path).to.equal(null);
      }
    });
  });

  describe('of /v1', () => {
    const PATH = '/v1/balance';
    const withKey = (authorization: string) => gateway.anonymous.get(PATH, { authorization });
    const newKey = (expiresAt?: Date) =>
      createApiKey(gateway.em(), gateway.secrets, {
        userId: owner.id,
        name: 'Another',
        ...(expiresAt && { expiresAt }),
      });

    it('takes the scheme in any case', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER'])
        expect((await withKey(`${scheme} ${owner.apiKey}`)).status, scheme).to.equal(200);
    });

    it('answers every bad key with the same 401', async () => {
      const [revoked, unknown] = [await newKey(), await newKey()];
      await gateway.em().execute(sql`update api_key set revoked_at = now() where id = ${revoked.id}`);
      await gateway.em().execute(sql`delete from key_spending where key_id = ${unknown.id}`);
      await gateway.em().nativeDelete(ApiKeyEntity, { id: unknown.id });
      const { apiKey } = owner;
      const bad: Record<string, string> = {
        revoked: `Bearer ${revoked.key}`,
        unknown: `Bearer ${unknown.key}`,
        'with a changed end': `Bearer ${apiKey.slice(0, -1)}${apiKey.endsWith('A') ? 'B' : 'A'}`,
        'with a changed start': `Bearer sk-svc_${apiKey.at(7) === 'A' ? 'B' : 'A'}${apiKey.slice(8)}`,
        'cut off': `Bearer ${apiKey.slice(0, -1)}`,
        'with something behind it': `Bearer ${apiKey} b`,
        'of another service': 'Bearer sk-live_4f9a1c7e2b8d6035',
        'in capitals': `Bearer ${apiKey.toUpperCase()}`,
        'without a scheme': apiKey,
        'with another scheme': `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`,
        'with the scheme alone': 'Bearer',
        'with SQL in it': `Bearer ' or 1=1 --`,
      };
      const headers = { 'x-request-id': 'same' };
      const reference = await gateway.anonymous.get(PATH, { ...headers, authorization: 'Bearer x' });
      expectError(reference, 401, 'invalid_api_key', null);
      expect(reference.headers.get('www-authenticate')).to.equal('Bearer');
      for (const [title, authorization] of Object.entries(bad)) {
        const { status, body } = await gateway.anonymous.get(PATH, { ...headers, authorization });
        expect(status, title).to.equal(401);
        expect(body, title).to.deep.equal(reference.body);
      }
    });

    it('says that a key has expired', async () => {
      const { key } = await newKey(new Date(Date.now() - 1_000));
      expectError(await withKey(`Bearer ${key}`), 401, 'expired_api_key', null);
      const later = await newKey(new Date(Date.now() + 60_000));
      expect((await withKey(`Bearer ${later.key}`)).status).to.equal(200);
    });

    it('takes a key from the Authorization header only, and never logs it', async () => {
      const { apiKey } = owner;
      const { anonymous } = gateway;
      const asked = [
        await anonymous.get(PATH),
        await anonymous.get(PATH, { authorization: '' }),
        await anonymous.get(`${PATH}?api_key=${apiKey}&key=${apiKey}&access_token=${apiKey}`),
        await anonymous.get(PATH, { 'x-api-key': apiKey, cookie: `svc_session=${apiKey}` }),
        await anonymous.post('/v1/estimates', { api_key: apiKey }),
        await owner.session.get(PATH),
      ];
      for (const answer of asked) expectError(answer, 401, 'missing_api_key', null);
      expect(gateway.logged()).not.to.contain(apiKey);
    });
  });
});
