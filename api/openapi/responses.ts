// The answers of an operation: those of its handler, those of its guards, and the headers they carry.
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';
import type { Answer, AnswerHeader, Operation } from './operation.ts';
import { writeSchema, type JsonObject, type NamedSchemas } from './json-schema.ts';
import { BEFORE_ROUTES, refusalsOf, type DescribedRoute } from './refusals.ts';

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const header = (description: string, schema: JsonObject = text): JsonObject => ({ description, schema });

/** Headers that are always there where an operation names them. */
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
const ANSWER_HEADERS: Readonly<Record<AnswerHeader, JsonObject>> = {
  location: header('Where to read what was made.'),
  'retry-after': RETRY_AFTER,
  'set-cookie': header('The session cookie: a new one, or its removal.'),
  'content-disposition': header('Always an attachment.'),
};
const REPLAYED = header('This Idempotency-Key was used before; the answer is the one that was given then.', {
  const: 'true',
});
const ERROR_REF = '#/components/schemas/Error';
/** Statuses that every operation has with the same codes; they are written once. */
const SHARED: Readonly<Record<number, string>> = { 500: 'InternalError' };

export function writeResponses(
  route: DescribedRoute,
  { answers, refusals = [], query }: Operation,
  named: NamedSchemas,
): JsonObject {
  const responses: JsonObject = {};
  for (const [status, answer] of Object.entries(answers))
    responses[status] = writeAnswer(route, answer, named);
  for (const [status, codes] of refusalsOf(route, { added: refusals, readsQuery: query !== undefined })) {
    const shared = SHARED[status];
    responses[String(status)] = shared
      ? { $ref: `#/components/responses/${shared}` }
      : writeRefusal(status, codes);
  }
  responses['default'] = { $ref: '#/components/responses/BeforeRoutes' };
  return responses;
}

/** Responses that operations refer to, and an example of each error. */
export function sharedComponents(): { headers: JsonObject; responses: JsonObject; examples: JsonObject } {
  const before = writeError(`Refused before it reached a route: ${list(BEFORE_ROUTES)}`, BEFORE_ROUTES, {});
  const examples = Object.entries(ERRORS).map(([code, { message, type }]) => {
    const error = { message, type, param: null, code, request_id: 'b1946ac9-2f0c-4d7e-9d3a-5a5e6c1f0a77' };
    return [code, { summary: message, value: { error } }] as const;
  });
  const headers = Object.entries(HEADERS).map(([name, told]) => [name, { ...told, required: true }]);
  return {
    headers: Object.fromEntries(headers),
    responses: { InternalError: writeRefusal(500, ['internal_error']), BeforeRoutes: before },
    examples: Object.fromEntries(examples),
  };
}

function writeAnswer(route: DescribedRoute, answer: Answer, named: NamedSchemas): JsonObject {
  const { description, shape, media = {}, headers = {}, example } = answer;
  const content: JsonObject = {};
  if (shape)
    content['application/json'] = {
      schema: writeSchema(shape, 'output', named),
      ...(example !== undefined && { example }),
    };
  for (const [type, what] of Object.entries(media))
    content[type] = { schema: { type: 'string', description: what } };
  const carried: JsonObject = refer(['X-Request-Id', ...(route.limit ? LIMIT_HEADERS : [])]);
  for (const [name, when] of Object.entries(headers))
    carried[writeName(name)] = { ...ANSWER_HEADERS[name as AnswerHeader], required: when === 'always' };
  if (route.idempotent) carried['Idempotent-Replayed'] = REPLAYED;
  return { description, headers: carried, ...(Object.keys(content).length > 0 && { content }) };
}

function writeRefusal(status: number, codes: readonly ErrorCode[]): JsonObject {
  const names: HeaderName[] = [];
  if (status === 429) names.push(...LIMIT_HEADERS, 'X-RateLimit-Backend');
  if (status === 429 || status === 503) names.push('Retry-After');
  if (status === 409) names.push('X-Should-Retry');
  if (codes.includes('missing_api_key')) names.push('WWW-Authenticate');
  const isWaiting = codes.includes('idempotency_in_progress');
  return writeError(list(codes), codes, {
    ...refer(names),
    ...(isWaiting && { 'Retry-After': RETRY_AFTER }),
  });
}

function writeError(description: string, codes: readonly ErrorCode[], headers: JsonObject): JsonObject {
  return {
    description,
    headers: { ...refer(['X-Request-Id']), ...headers },
    content: {
      'application/json': {
        schema: { $ref: ERROR_REF, properties: { error: { properties: { code: { enum: [...codes] } } } } },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function refer(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function list(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\``).join(', ');
}

/** As it is usually written. */
function writeName(name: string): string {
  return name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
