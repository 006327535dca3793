// What every route refuses or ignores: unknown fields, odd paths, repeated parameters and headers; and what
// browsers are told.
import { expect } from 'chai';
import { ROUTES } from '../../../api/app.ts';
import { createAdministrator } from '../../support/administrators.ts';
import { DOCUMENT } from '../../../dev/documented.ts';
import { expectNoEffect } from '../../support/http/effects.ts';
import { expectError } from '../../support/http/expect-error.ts';
import { startGateway, type TestGateway, type TestUser } from '../../support/servers/gateway.ts';
import type { Actor } from '../../support/http/http.ts';
import { converse, sendRaw } from '../../support/http/raw.ts';

/** The first example that the document shows for the body of a route. */
function exampleOf({ method, path }: { method: string; path: string }): Record<string, unknown> {
  const operation = DOCUMENT.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  const { examples = {} } = Object(Object(operation).requestBody?.content['application/json']);
  const [first] = Object.values<{ value: Record<string, unknown> }>(examples);
  return first?.value ?? {};
}

describe('every route is strict', () => {
  let gateway: TestGateway;
  let owner: TestUser;
  let chief: TestUser;

  before(async () => {
    gateway = await startGateway({ worker: false });
    owner = await gateway.createUser(1000);
    chief = await createAdministrator(gateway);
  });
  after(() => gateway.stop());
  afterEach(() => gateway.expectSoundMoney());

  const actorOf = (proof: string): Actor => (proof === 'key' ? owner.key : chief.session);
  const raw = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await sendRaw(gateway.baseUrl, { method, path, headers });
    return { ...answer, body: answer.text === '' ? null : JSON.parse(answer.text) };
  };

  describe('about unknown fields', () => {
    for (const route of ROUTES.filter(({ bodyBytesMax }) => bodyBytesMax !== undefined)) {
      const { method, path, proof } = route;
      const concrete = path.replace(':id', 'x');
      const body = { ...exampleOf(route), '<unknown>': { a: 1 } };
      if (path.startsWith('/api/'))
        it(`which are 400: ${method} ${path}`, async () => {
          const sent = JSON.stringify(body);
          const headers = { 'content-type': 'application/json' };
          const answer = await expectNoEffect(gateway, () =>
            actorOf(proof).send(method, concrete, { body: sent, headers }),
          );
          expectError(answer, 400, 'invalid_request', '<unknown>');
        });
      else
        it(`which it ignores: ${method} ${path}`, async () => {
          const { status } = await actorOf(proof).post(concrete, body);
          expect(status).not.to.equal(400);
        });
    }
  });

  describe('about ids', () => {
    const ids = ['%00', 'a%2Fb', '..%2F..', '%F0%9F%90%B1', "'%20or%201=1", '__proto__', 'x'.repeat(3000)];
    for (const route of ROUTES.filter(({ path }) => path.includes(':id')))
      it(`which are 404 if they cannot be one: ${route.method} ${route.path}`, async () => {
        for (const id of ids) {
          const path = route.path.replace(':id', id);
          const body = route.bodyBytesMax === undefined ? undefined : exampleOf(route);
          const answer = await actorOf(route.proof).send(route.method, path, {
            ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
          });
          expect(answer.status, id).to.equal(404);
        }
        const broken = await actorOf(route.proof).send(route.method, route.path.replace(':id', '%E0%A4%A'));
        expectError(broken, 400, 'invalid_request', null);
      });
  });

  describe('about paths', () => {
    it('which mean the same in capitals or with a slash at the end, guards included', async () => {
      for (const path of ['/V1/BALANCE', '/v1/balance/', '/v1/Models/']) {
        expectError(await raw('GET', path), 401, 'missing_api_key', null);
        expect((await raw('GET', path, { authorization: `Bearer ${owner.apiKey}` })).status).to.equal(200);
      }
      expectError(await raw('GET', '/API/Admin/Users/'), 401, 'not_authenticated', null);
      expectError(await owner.session.get('/API/ADMIN/USERS/'), 403, 'permission_denied', null);
      const foreign = { origin: 'https://elsewhere.example' };
      expectError(await owner.session.post('/API/Keys/', { name: 'a' }, foreign), 403, 'csrf_rejected', null);
    });

    for (const path of ['//v1/balance', '/v1//balance', '/v1/balance;x=1', '/v1/balance%20', '/v1%2Fbalance'])
      it(`which are no route: ${path}`, async () => {
        const answer = await raw('GET', path, { authorization: `Bearer ${owner.apiKey}` });
        expectError(answer, 404, 'route_not_found', null);
      });
  });

  describe('about queries', () => {
    const parametersOf = (path: string): { in?: string; name?: string }[] =>
      Object(DOCUMENT.paths[path]?.['get']).parameters ?? [];
    const lists = ROUTES.filter(
      ({ method, path }) => method === 'GET' && parametersOf(path).some((one) => one.in === 'query'),
    );

    it('of which there are some', () => expect(lists).to.have.length.above(6));

    for (const { path, proof } of lists)
      it(`in which unknown parameters are ignored and none may stand twice: ${path}`, async () => {
        const actor = actorOf(proof);
        for (const query of ['?x=1', '?[limit]=1', '?__proto__=1', '?limit=1&', '?&', '?', '?=1', '?x=%ff'])
          expect((await actor.get(`${path}${query}`)).status, query).to.equal(200);
        for (const query of ['limit=1&limit=2', 'x=1&x=1', 'limit=1&%6cimit=1'])
          expectError(
            await actor.get(`${path}?${query}`),
            400,
            'invalid_value',
            query.startsWith('x') ? 'x' : 'limit',
          );
        for (const query of ['x=%00', '%00=x', 'cursor=%00', 'model=a%00b', 'email=%00'])
          expectError(await actor.get(`${path}?${query}`), 400, 'invalid_value', null);
        if (!parametersOf(path).some(({ name }) => name === 'limit')) return;
        for (const limit of ['0', '-1', '1.5', '1e1', ' 1', '', 'all', '99999999999', '٣'])
          expectError(
            await actor.get(`${path}?limit=${encodeURIComponent(limit)}`),
            400,
            'invalid_value',
            'limit',
          );
      });
  });

  describe('about numbers', () => {
    const estimate = (body: string) =>
      owner.key.send('POST', '/v1/estimates', { body, headers: { 'content-type': 'application/json' } });
    const video = (member: string) =>
      `{"mode":"video","model":"grok-imagine-video","prompt":"x","resolution":"480p",${member}}`;
    const image = (members: string) => `{"mode":"image","model":"gpt-image-2","prompt":"x",${members}}`;

    for (const value of ['-0', '-1', '0', '1.5', '1e400', '9007199254740993', '"4"', 'null', '[4]', 'true'])
      it(`such as a duration of ${value}: 400`, async () => {
        const answer = await estimate(video(`"duration":${value}`));
        expect(answer.status).to.equal(400);
      });

    it('of which the last counts where a name stands twice', async () => {
      expectError(await estimate(image('"n":1,"n":100')), 400, 'invalid_value', 'n');
      const { status, body } = await estimate(image('"n":1,"n":2'));
      expect([status, body.data.creditsEstimate]).to.deep.equal([200, 8]);
    });

    it('which may be written in any way that means the same', async () => {
      for (const value of ['4', '4.0', '4e0', '0.4e1'])
        expect((await estimate(video(`"duration":${value}`))).body.data.creditsEstimate, value).to.equal(40);
    });
  });

  describe('about headers', () => {
    it('of which Authorization may stand once', async () => {
      const other = await gateway.createUser(0);
      for (const second of [owner.apiKey, other.apiKey, 'x']) {
        const lines = [`Authorization: Bearer ${owner.apiKey}`, `Authorization: Bearer ${second}`];
        const request = `GET /v1/balance HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines.join('\r\n')}\r\n\r\n`;
        const { answers } = await converse(gateway.baseUrl, [request]);
        expect(answers.map(({ status }) => status)).to.deep.equal([401]);
        expect(JSON.parse(answers[0]?.body ?? '').error.code).to.equal('invalid_api_key');
      }
    });

    it('of which none lets another site read an answer', async () => {
      const origin = { origin: 'https://elsewhere.example' };
      const asked = [
        await raw('GET', '/api/balance', origin),
        await raw('OPTIONS', '/api/tasks', { ...origin, 'access-control-request-method': 'POST' }),
        await raw('POST', '/api/auth/login', origin),
        await raw('GET', '/api/nope', origin),
      ];
      for (const { headers } of asked)
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).to.deep.equal([]);
    });

    it('which tell browsers to run nothing, guess nothing and tell nobody', async () => {
      const paths = ['/v1/balance', '/api/tasks', '/nope', '/openapi.json', '/docs', '/results/a/1/0.png'];
      for (const path of paths)
        for (const method of ['GET', 'HEAD', 'PUT']) {
          const { headers } = await sendRaw(gateway.baseUrl, { method, path });
          expect(headers['x-content-type-options'], path).to.equal('nosniff');
          expect(headers['referrer-policy'], path).to.equal('no-referrer');
          expect(headers['content-security-policy'], path).to.contain("default-src 'none'");
          expect(headers['x-powered-by'], path).to.equal(undefined);
        }
    });
  });

  it('and never takes a reader to have kept an answer', async () => {
    for (const condition of [
      { 'if-none-match': '*' },
      { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
    ])
      expect((await owner.key.get('/v1/balance', condition)).status).to.equal(200);
  });

  it('and answers HEAD as GET, without the body', async () => {
    for (const { path, proof } of ROUTES.filter(
      ({ method, path, endless }) => method === 'GET' && !path.includes(':') && !endless,
    )) {
      const [got, head] = [await actorOf(proof).get(path), await actorOf(proof).send('HEAD', path)];
      expect(head.status, path).to.equal(got.status);
      expect(head.headers.get('content-type'), path).to.equal(got.headers.get('content-type'));
      expect(head.headers.get('cache-control'), path).to.equal('no-store');
      expect(head.body, path).to.equal(null);
    }
  });
});
