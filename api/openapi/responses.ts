// Describes the responses of a route: of its handler and of its guards, with the headers they carry.
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import type { ResponseDescription, ResponseHeader, RouteDescription } from './route-description.ts';
import { writeSchema, type JsonObject, type NamedSchemas } from './json-schema.ts';
import { BEFORE_ROUTES, refusalsOf, type RouteRow } from './refusals.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const header = (description: string, schema: JsonObject = text): JsonObject => ({ description, schema });

/** Headers that a response always carries when it names them. */
const HEADERS = {
  'X-Request-Id': header('Names this request in our logs. Your own, if you sent a harmless one.', {
    type: 'string',
    pattern: '^[A-Za-z0-9._-]{1,64}$',
  }),
  'X-RateLimit-Limit': header('Requests in a window.', count),
  'X-RateLimit-Remaining': header('How many of them are left.', count),
  'X-RateLimit-Reset': header('When the window begins anew, in Unix seconds.', count),
  'RateLimit-Policy': header('The same as `"name";q=points;w=seconds`.'),
  RateLimit: header('The same as `"name";r=remaining;t=seconds`.'),
  'X-RateLimit-Backend': header('What did the counting.', { enum: ['redis', 'memory', 'redis_unavailable'] }),
  'Retry-After': header('Seconds after which to come back.', { type: 'integer', minimum: 1 }),
  'X-Should-Retry': header('Whether repeating the request can help.', { enum: ['true', 'false'] }),
  'WWW-Authenticate': header('The scheme.', { const: 'Bearer' }),
  'Content-Range': header('How many bytes the file has.', { type: 'string', pattern: '^bytes \\*/\\d+$' }),
} as const;
type HeaderName = keyof typeof HEADERS;

const LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
] as const;
const RETRY_AFTER = HEADERS['Retry-After'];
/** Statuses that a limited route answers only after it has counted the request. */
const AFTER_COUNTING: ReadonlySet<number> = new Set([402, 404, 409, 415, 422, 502, 504]);
const HANDLER_HEADERS: Readonly<Record<ResponseHeader, JsonObject>> = {
  location: header('Where to read what was made.'),
  'retry-after': RETRY_AFTER,
  'set-cookie': header('The session cookie: a new one, or its removal.'),
  'content-disposition': header('Always an attachment.'),
  'accept-ranges': header('Parts of the file are served.', { const: 'bytes' }),
  'content-range': header('Which bytes these are, and how many the file has.', {
    type: 'string',
    pattern: '^bytes \\d+-\\d+/\\d+$',
  }),
  etag: header('Names the bytes.'),
};
const EVENT_STREAM = 'text/event-stream';
const REPLAYED = header('This Idempotency-Key was used before; the answer is the one that was given then.', {
  const: 'true',
});
const APPLIED = header('`wait=N`, where the request preferred it.', {
  type: 'string',
  pattern: '^wait=\\d+$',
});
const ERROR_REF = '#/components/schemas/Error';
/** Statuses that every route has with the same codes, written once as shared components. */
const SHARED: Readonly<Record<number, string>> = { 500: 'InternalError' };

export function writeResponses(
  route: RouteRow,
  { responses: described, refusals = [], query }: RouteDescription,
  named: NamedSchemas,
): JsonObject {
  const responses: JsonObject = {};
  for (const [status, response] of Object.entries(described))
    responses[status] = writeResponse(route, response, named);
  for (const [status, codes] of refusalsOf(route, { added: refusals, readsQuery: query !== undefined })) {
    const shared = SHARED[status];
    responses[String(status)] = shared
      ? { $ref: `#/components/responses/${shared}` }
      : writeRefusal(status, codes, route);
  }
  responses['default'] = { $ref: '#/components/responses/BeforeRoutes' };
  return responses;
}

/**
 * Creates the components that responses refer to: headers, the shared responses, and an example of each
 * error.
 */
export function sharedComponents(): { headers: JsonObject; responses: JsonObject; examples: JsonObject } {
  const before = writeError(
    `Refused before it reached a route: ${joinCodes(BEFORE_ROUTES)}`,
    BEFORE_ROUTES,
    {},
  );
  const examples = Object.entries(ERRORS).map(([code, { message, type }]) => {
    const error = { message, type, param: null, code, request_id: 'b1946ac9-2f0c-4d7e-9d3a-5a5e6c1f0a77' };
    return [code, { summary: message, value: { error } }] as const;
  });
  const headers = Object.entries(HEADERS).map(([name, described]) => [
    name,
    { ...described, required: true },
  ]);
  return {
    headers: Object.fromEntries(headers),
    responses: { InternalError: writeRefusal(500, ['internal_error']), BeforeRoutes: before },
    examples: Object.fromEntries(examples),
  };
}

function writeResponse(route: RouteRow, response: ResponseDescription, named: NamedSchemas): JsonObject {
  const { description, shape, media = {}, headers = {}, example } = response;
  const content: JsonObject = {};
  if (shape)
    content['application/json'] = {
      schema: writeSchema(shape, 'output', named),
      ...(example !== undefined && { example }),
    };
  for (const [type, what] of Object.entries(media))
    content[type] = {
      schema: type === EVENT_STREAM ? eventSchema(what) : { type: 'string', description: what },
    };
  const written: JsonObject = referToHeaders(['X-Request-Id', ...(route.limit ? LIMIT_HEADERS : [])]);
  for (const [name, when] of Object.entries(headers))
    written[toHeaderName(name)] = { ...HANDLER_HEADERS[name as ResponseHeader], required: when === 'always' };
  Object.assign(written, headersOfRoute(route));
  return { description, headers: written, ...(Object.keys(content).length > 0 && { content }) };
}

/** One event of a stream, as OpenAPI 3.2 and the tools that read streams see it: each field is a text. */
function eventSchema(description: string): JsonObject {
  return { type: 'object', description, properties: { event: text, data: text, id: text } };
}

/** Headers that every answer of such a route may have, whatever its status. */
function headersOfRoute({ idempotent, waits }: Pick<RouteRow, 'idempotent' | 'waits'>): JsonObject {
  return {
    ...(idempotent && { 'Idempotent-Replayed': REPLAYED }),
    ...(waits && { 'Preference-Applied': APPLIED }),
  };
}

function writeRefusal(
  status: number,
  codes: readonly ErrorCode[],
  route: Pick<RouteRow, 'idempotent' | 'limit' | 'waits'> = {},
): JsonObject {
  const names: HeaderName[] = [];
  if (status === 429 || (route.limit && AFTER_COUNTING.has(status))) names.push(...LIMIT_HEADERS);
  if (status === 429) names.push('X-RateLimit-Backend');
  if (status === 416) names.push('Content-Range');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (status === 409) names.push('X-Should-Retry');
  if (codes.includes('missing_api_key')) names.push('WWW-Authenticate');
  const isWaiting = codes.includes('idempotency_in_progress') || codes.includes('task_not_ended');
  return writeError(joinCodes(codes), codes, {
    ...referToHeaders(names),
    ...(isWaiting && { 'Retry-After': RETRY_AFTER }),
    // Nothing before the credentials are known is repeated or waited for.
    ...(status !== 401 && headersOfRoute(route)),
  });
}

function writeError(description: string, codes: readonly ErrorCode[], headers: JsonObject): JsonObject {
  return {
    description,
    headers: { ...referToHeaders(['X-Request-Id']), ...headers },
    content: {
      'application/json': {
        schema: { $ref: ERROR_REF, properties: { error: { properties: { code: { enum: [...codes] } } } } },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function referToHeaders(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function joinCodes(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\``).join(', ');
}

/** Writes a header's name as it is usually written, each word with a capital. */
function toHeaderName(name: string): string {
  if (name === 'etag') return 'ETag';
  return name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
