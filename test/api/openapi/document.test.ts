// The OpenAPI document: complete, sound, the same for every caller. That answers keep what it promises is
// checked with every request of every test (dev/documented.ts).
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { z } from 'zod';
import { mountRoutes, ROUTES } from '../../../api/app.ts';
import { TAGS } from '../../../api/openapi/route-description.ts';
import { ERRORS, type ErrorCode } from '../../../domain/errors.ts';
import { DOCUMENT, findUndocumented } from '../../../dev/documented.ts';
import { startGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { DOCUMENT_SHAPE } from '../../support/http/openapi-shape.ts';

const operations = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

/** What the tests read of an operation, and of an answer that refuses; DOCUMENT_SHAPE has the rest. */
const OPERATION = z.object({
  tags: z.array(z.string()),
  responses: z.record(z.string(), z.looseObject({})),
});
const CODE = z.object({ enum: z.array(z.enum(Object.keys(ERRORS) as ErrorCode[])) });
const ERROR = z.object({ properties: z.object({ code: CODE }) });
const REFUSAL = z.object({
  content: z.object({
    'application/json': z.object({ schema: z.object({ properties: z.object({ error: ERROR }) }) }),
  }),
});

describe('the OpenAPI document', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startGateway({ worker: false });
  });
  after(() => gateway.stop());

  it('is what GET /openapi.json answers, to everybody, and may be kept for a while', async () => {
    const answer = await gateway.anonymous.get('/openapi.json');
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).to.equal('public, max-age=3600');
    expect(answer.body).to.deep.equal(DOCUMENT);
    const etag = answer.headers.get('etag') ?? '';
    const again = await sendRaw(gateway.baseUrl, {
      path: '/openapi.json',
      headers: { 'if-none-match': etag },
    });
    expect(again.status).to.equal(304);
    expect(again.text).to.equal('');
  });

  it('names exactly the routes that are mounted', () => {
    const stacks = mountRoutes(gateway.services)
      .routers()
      .flatMap(({ stack }) => stack);
    const routes = stacks.flatMap(({ route }): MountedRoute[] => (route ? [Object(route)] : []));
    const mounted = routes.flatMap(({ path, methods }) =>
      Object.keys(methods)
        .filter((method) => method !== '_all') // the answer to wrong methods
        .map((method) => `${method.toUpperCase()} ${path.replaceAll(/[:*](\w+)/g, '{$1}')}`),
    );
    expect(mounted).to.have.length.above(ROUTES.length);
    expect(operations.map(({ name }) => name)).to.have.members(mounted);
  });

  it('has the structure of OpenAPI 3.1', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(ajv);
    const isSound = ajv.validate(DOCUMENT_SHAPE, DOCUMENT);
    expect(isSound, ajv.errorsText(ajv.errors, { separator: '\n' })).to.equal(true);
  });

  it('holds only schemas that are JSON Schema 2020-12, and references that lead somewhere', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(DOCUMENT, 'openapi');
    let references = 0;
    walk(DOCUMENT, (value, key) => {
      if (key === '$ref' && typeof value === 'string') {
        references += 1;
        const target = value
          .slice(2)
          .split('/')
          .reduce<unknown>((found, step) => Reflect.get(Object(found), step), DOCUMENT);
        expect(target, value).to.be.an('object');
      }
      if (key === 'schema') {
        expect(ajv.validateSchema(Object(value)), JSON.stringify(value)).to.equal(true);
      }
    });
    expect(references).to.be.above(100);
    for (const name of Object.keys(Object(DOCUMENT['components']).schemas))
      expect(() => ajv.compile({ $ref: `openapi#/components/schemas/${name}` }), name).not.to.throw();
  });

  it('says of every operation what a newcomer needs', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const { name, operation } of operations) {
      expect(operation.summary, name).to.match(/^[A-Z].{4,}[^.]$/);
      expect(operation.operationId, name).to.match(/^[a-z]\w+$/);
      expect(TAGS, name).to.include.keys(...OPERATION.parse(operation).tags);
      for (const parameter of [...name.matchAll(/\{(\w+)\}/g)].map(([, text]) => text))
        expect(operation.parameters, name).to.deep.include({
          name: parameter,
          in: 'path',
          required: true,
          schema: { type: 'string' },
        });
    }
  });

  it('shows examples that its own schemas accept', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(DOCUMENT, 'openapi');
    let shown = 0;
    walk([DOCUMENT.paths, DOCUMENT.webhooks], (value) => {
      const { schema, examples = {}, example } = Object(value);
      if (schema === undefined) return;
      const values = Object.values<{ value?: unknown }>(examples).flatMap((one) =>
        'value' in one ? [one.value] : [],
      );
      for (const given of example === undefined ? values : [...values, example]) {
        shown += 1;
        const written = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
        expect(ajv.validate(written, given), `${JSON.stringify(given)}: ${ajv.errorsText()}`).to.equal(true);
      }
    });
    expect(shown).to.be.above(20);
  });

  it('shows models that there are', () => {
    const shown = new Set<unknown>();
    walk(DOCUMENT['paths'], (value, key) => {
      if (key !== 'value') return;
      const { model, modelScope = [] } = Object(value);
      for (const id of [model, ...modelScope]) if (id !== undefined) shown.add(id);
    });
    expect(shown.size).to.be.above(1);
    expect([...gateway.services.catalog.models.keys()]).to.include.members([...shown]);
  });

  it('says of each error which statuses it goes with', () => {
    for (const { name, operation } of operations)
      for (const [status, response] of Object.entries(OPERATION.parse(operation).responses)) {
        if ('$ref' in response || Number(status) < 400) continue;
        const { schema } = REFUSAL.parse(response).content['application/json'];
        for (const code of schema.properties.error.properties.code.enum)
          expect(ERRORS[code].status, `${name}: ${code}`).to.equal(Number(status));
      }
  });

  it('knows what follows from the row of a route', () => {
    for (const route of ROUTES) {
      const path = route.path.replaceAll(/[:*](\w+)/g, '{$1}');
      const operation = Object(DOCUMENT.paths[path]?.[route.method.toLowerCase()]);
      const name = `${route.method} ${path}`;
      const statuses = Object.keys(operation.responses);
      expect(operation.security, name).to.have.length(route.proof === 'none' ? 0 : 1);
      const takesBody = route.bodyBytesMax !== undefined || route.upload === true;
      expect('requestBody' in operation, name).to.equal(takesBody);
      expect(statuses, name).to.include.members(['429', '500', '503', 'default']);
      if (route.proof !== 'none') expect(statuses, name).to.include.members(['401', '403']);
      if (route.idempotent) expect(statuses, name).to.include.members(['409', '422']);
      const headers = operation.responses['503'].headers;
      if (route.idempotent) expect(headers, name).to.have.property('Idempotent-Replayed');
      if (route.waits) expect(headers, name).to.have.property('Preference-Applied');
      if (takesBody) expect(statuses, name).to.include.members(['400', '413', '415']);
    }
  });
});

describe('an answer that the document does not promise', () => {
  const headers = new Headers({
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': 'a',
    'x-ratelimit-limit': '600',
    'x-ratelimit-remaining': '599',
    'x-ratelimit-reset': '1795167000',
    'ratelimit-policy': '"read";q=600;w=60',
    ratelimit: '"read";r=599;t=60',
  });
  const model = {
    id: 'm',
    object: 'model',
    created: 1,
    owned_by: 'grok',
    kind: 'video',
    family: 'grok',
    billing_mode: 'per_second',
    limits: { promptCharactersMax: 1 },
    defaults: {},
    price: [],
    usual_seconds: null,
  };
  const code = 'model_not_found';
  const error = { message: 'x', type: 'not_found_error', param: null, code, request_id: 'a' };
  const judge = (status: number, body: unknown, given: Headers = headers) =>
    findUndocumented('GET', '/v1/models/m', { status, body, headers: given });
  const without = (name: string): Headers => {
    const left = new Headers(headers);
    left.delete(name);
    return left;
  };

  it('is found, and named by route, status and problem', () => {
    expect(judge(200, model)).to.deep.equal([]);
    expect(judge(404, { error })).to.deep.equal([]);
    const cases: [title: string, problems: string[]][] = [
      ['an undocumented field', judge(200, { ...model, secret: 1 })],
      ['a field that is missing', judge(200, { ...model, id: undefined })],
      ['a field of another type', judge(200, { ...model, created: 'now' })],
      ['an undocumented status', judge(202, model)],
      ['an undocumented error status', judge(418, { error })],
      ['an undocumented code', judge(404, { error: { ...error, code: 'task_not_found' } })],
      ['a code of another status', judge(403, { error })],
      ['another request id', judge(404, { error: { ...error, request_id: 'b' } })],
      ['no request id', judge(200, model, without('x-request-id'))],
      ['a limit that is not told', judge(200, model, without('x-ratelimit-limit'))],
      ['a limit that an error does not tell', judge(404, { error }, without('x-ratelimit-limit'))],
      ['an undocumented header', judge(200, model, new Headers([...headers, ['etag', '"a"']]))],
      ['no Retry-After', judge(503, { error: { ...error, type: 'server_error', code: 'overloaded' } })],
      ['an unknown route', findUndocumented('GET', '/v1/nope', { status: 200, body: {}, headers })],
      ['a wrong method', findUndocumented('PUT', '/v1/models', { status: 200, body: {}, headers })],
    ];
    for (const [title, problems] of cases) {
      expect(problems, title).to.have.length.above(0);
      expect(problems[0], title).to.match(/^(GET|PUT) \/v1\/\S+ → \d{3}: ./);
    }
  });
});

interface MountedRoute {
  path: string;
  methods: Record<string, boolean>;
}

function walk(value: unknown, look: (value: unknown, key: string) => void, key = ''): void {
  look(value, key);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) walk(member, look, name);
}
