// Builds the OpenAPI document from the route table, the descriptions of routes and the validating schemas.
import type { z } from 'zod';
import { TAGS, type RequestBody, type RequestHeader, type RouteDescription } from './route-description.ts';
import { DELIVERY_PARAMETERS, describeDeliveries } from './deliveries.ts';
import { ROUTE_DESCRIPTIONS } from './descriptions/index.ts';
import { INTRODUCTION } from './introduction.ts';
import { writeSchema, type JsonObject, type NamedSchemas } from './json-schema.ts';
import type { RouteRow } from './refusals.ts';
import { sharedComponents, writeResponses } from './responses.ts';
import { ERROR } from '../shapes/errors.ts';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument extends JsonObject {
  paths: { [path: string]: { [method: string]: JsonObject } };
  /** What the gateway sends, by the type of the event. */
  webhooks: { [type: string]: { post: JsonObject } };
}

const KEY_SCHEME = 'apiKey';
const SESSION_SCHEME = 'session';
const SECURITY = { key: [{ [KEY_SCHEME]: [] }], session: [{ [SESSION_SCHEME]: [] }], none: [] };

/**
 * Describes these routes and the files that are served without a row, in the order of the descriptions.
 * Throws when a route has no description.
 */
export function describeApi(routes: readonly RouteRow[]): OpenApiDocument {
  const named: NamedSchemas = new Map();
  const byName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
  const paths: OpenApiDocument['paths'] = {};
  for (const [name, description] of Object.entries(ROUTE_DESCRIPTIONS)) {
    const route = byName.get(name) ?? fileRoute(name);
    byName.delete(name);
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route, description, named) };
  }
  if (byName.size > 0) throw new Error(`no description of ${[...byName.keys()].join(', ')}`);
  const webhooks = describeDeliveries(named);
  writeSchema(ERROR, 'output', named);
  return {
    openapi: '3.1.1',
    info: { title: 'svc-gateway', version: '1', description: INTRODUCTION },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: { ...PARAMETERS, ...DELIVERY_PARAMETERS },
      schemas: Object.fromEntries([...named].sort(([one], [other]) => (one < other ? -1 : 1))),
      ...sharedComponents(),
    },
  };
}

const SECURITY_SCHEMES: JsonObject = {
  [KEY_SCHEME]: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'sk-svc_…',
    description: 'An API key, made in the console with POST /api/keys.',
  },
  [SESSION_SCHEME]: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_session',
    description: 'The cookie that POST /api/auth/login gives. Browsers send it by themselves.',
  },
};

const PARAMETERS = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Your own name for this request: 1 to 64 letters, digits, dots, underscores and hyphens. Anything else is replaced, not refused.',
    schema: { type: 'string', examples: ['order-4711'] },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes repeats harmless: for 24 hours, the same key with the same body is answered as the first time, without a second effect. Any text of yours, such as a UUID.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7E]{1,255}$' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`wait=N` (RFC 7240): the answer comes when the task has ended, or after N seconds as without the header. At most 60.',
    schema: { type: 'string', examples: ['wait=60'] },
  },
  Range: {
    name: 'Range',
    in: 'header',
    description:
      'One range of bytes, such as `bytes=0-99`, `bytes=100-` or `bytes=-100`, is answered with 206. Several, and what is none, are ignored.',
    schema: { type: 'string', examples: ['bytes=0-99'] },
  },
  IfRange: {
    name: 'If-Range',
    in: 'header',
    description: 'The `ETag` of an earlier answer: `Range` counts only if it is still that of the file.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier answer: 304 if nothing has changed since.',
    schema: { type: 'string' },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description:
      'The last `id` of an earlier stream: what changed since then comes first. Browsers send it by themselves.',
    schema: { type: 'string' },
  },
} as const satisfies JsonObject & Record<RequestHeader, JsonObject>;

/** Creates a row for a route that serves files, which has none in the route table. */
function fileRoute(name: string): RouteRow {
  return { method: 'GET', path: name.slice('GET '.length), proof: 'none' };
}

function describeRoute(route: RouteRow, described: RouteDescription, named: NamedSchemas): JsonObject {
  const { id, tag, summary, description, body } = described;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...withNeeds(route, description),
    security: SECURITY[route.proof],
    parameters: writeParameters(route, described, named),
    ...(body && { requestBody: writeBody(body, named) }),
    responses: writeResponses(route, described, named),
  };
}

/** Puts before the description what the route's row requires of a session. */
function withNeeds({ permission, stepUp }: RouteRow, description = ''): { description?: string } {
  const permitted = permission ? `Needs the permission \`${permission}\`. ` : '';
  const verified = stepUp ? 'Needs a fresh proof of identity: POST /api/verify. ' : '';
  const text = `${permitted}${verified}${description}`.trim();
  return text === '' ? {} : { description: text };
}

function writeParameters(
  route: RouteRow,
  { query, requestHeaders = [] }: RouteDescription,
  named: NamedSchemas,
) {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query?.shape ?? {}).map(([name, schema]) => {
    const { description, ...written } = writeSchema(schema, 'input', named);
    return { name, in: 'query', ...(description && { description }), schema: written };
  });
  const references = [
    'RequestId',
    ...(route.idempotent ? ['IdempotencyKey'] : []),
    ...(route.waits ? ['Prefer'] : []),
    ...requestHeaders,
  ];
  const inHeaders = references.map((name) => ({ $ref: `#/components/parameters/${name}` }));
  return [...inPath, ...inQuery, ...inHeaders];
}

function writeBody({ schema, form, examples = {} }: RequestBody, named: NamedSchemas): JsonObject {
  const shown = Object.entries(examples).map(([summary, value]) => [summary, { summary, value }]);
  const content: JsonObject = {};
  if (schema)
    content['application/json'] = {
      schema: writeSchema(schema, 'input', named),
      ...(shown.length > 0 && { examples: Object.fromEntries(shown) }),
    };
  if (form) content['multipart/form-data'] = writeForm(form, named);
  return { required: true, content };
}

/** Describes a form, and of each object in it that its part is JSON. */
function writeForm(form: z.ZodObject, named: NamedSchemas): JsonObject {
  const objects = Object.entries(form.shape).filter(
    ([, field]) => writeSchema(field, 'input', new Map())['type'] === 'object',
  );
  const encoding = objects.map(([name]) => [name, { contentType: 'application/json' }]);
  return {
    schema: writeSchema(form, 'input', named),
    ...(encoding.length > 0 && { encoding: Object.fromEntries(encoding) }),
  };
}
