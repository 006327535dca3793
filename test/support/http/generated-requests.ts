// Generates requests from the OpenAPI document: valid ones, edge cases, and broken ones of every kind.
import fc, { type Arbitrary } from 'fast-check';
import { DOCUMENT } from '../../../dev/documented.ts';
import {
  type Schema,
  type KnownThings,
  damage,
  JUNK_TEXTS,
  anyText,
  valid,
  mostly,
} from './generated-values.ts';

const CALLERS = ['nobody', 'key', 'session', 'administrator'] as const;
export type CallerName = (typeof CALLERS)[number];

export interface GeneratedRequest {
  caller: CallerName;
  method: string;
  /** The path as it is sent, with its query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Its answer ends with the session, not by itself. */
const ENDLESS_PATH = '/api/events';

/** Any operation, with any caller, parameters and body. */
export function anyRequest(known: KnownThings): Arbitrary<GeneratedRequest> {
  const operations = Object.entries(DOCUMENT.paths)
    .filter(([path]) => path !== ENDLESS_PATH)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
      })),
    );
  return fc
    .constantFrom(...operations)
    .chain(({ path, method, operation }) => requestTo(path, method, operation, known));
}

function requestTo(
  path: string,
  method: string,
  operation: Schema,
  known: KnownThings,
): Arbitrary<GeneratedRequest> {
  const schema: Schema = operation.requestBody?.content['application/json']?.schema;
  const parts = {
    caller: callerOf(operation),
    verb: mostly(
      fc.constant(method),
      fc.constantFrom('HEAD', 'PUT', 'OPTIONS', 'DELETE', 'POST', 'PATCH', 'GET'),
    ),
    path: pathOf(path, known),
    query: queryOf(operation.parameters),
    headers: headersOf(),
    type: mostly(
      fc.constant('application/json'),
      fc.constantFrom('', 'text/plain', 'application/json; charset=utf-16'),
    ),
    body: schema
      ? bodyOf(schema, known)
      : mostly(fc.constant(null), fc.constantFrom(Buffer.from('{}'), Buffer.from('x'))),
  };
  return fc.record(parts).map(({ caller, verb, path, query, headers, type, body }) => ({
    caller,
    method: verb,
    path: `${path}${query}`,
    headers: { ...headers, ...(body && type !== '' && { 'content-type': type }) },
    body,
  }));
}

/** Any caller, mostly one that passes the guards. */
function callerOf({ security }: Schema): Arbitrary<CallerName> {
  const fitting: CallerName[] = 'apiKey' in (security[0] ?? {}) ? ['key'] : ['session', 'administrator'];
  return mostly(fc.constantFrom(...fitting), fc.constantFrom(...CALLERS));
}

function pathOf(path: string, { ids }: KnownThings): Arbitrary<string> {
  const segments = path.split('/').map((segment, index, all) => {
    if (!segment.startsWith('{')) return fc.constant(segment);
    const before = all[index - 1] ?? '';
    return fc.oneof(
      { arbitrary: fc.constantFrom(...(ids[before] ?? ['x'])), weight: 4 },
      { arbitrary: fc.constantFrom(...BAD_IDS), weight: 1 },
      { arbitrary: anyText.map((text) => encodeURIComponent(text.toWellFormed()) || 'x'), weight: 1 },
    );
  });
  return fc.tuple(...segments).map((written) => written.join('/'));
}

const BAD_IDS = [
  'task_00000000000000000000000000',
  'key_00000000000000000000000000',
  'usr_00000000000000000000000000',
  'task_0000000000000000000000000',
  '%E0%A4%A',
  '%',
  '%00',
  'a%2Fb',
  '..%2f..',
  '__proto__',
  'constructor',
  '1%20or%201=1',
  '%F0%9F%90%B1',
  'x'.repeat(4000),
];

/** Query parameters: documented and unknown ones, valid and invalid, once or repeated. */
function queryOf(parameters: Schema[]): Arbitrary<string> {
  const documented = parameters.filter((parameter) => parameter.in === 'query');
  const pairs = documented.map(({ name, schema }) =>
    fc.tuple(
      fc.constant(name as string),
      fc.oneof(
        valid(schema).map(String),
        fc.constantFrom(...JUNK_TEXTS, '-1', '0', '1e3', '999999999999'),
        anyText,
      ),
    ),
  );
  const other = fc.tuple(fc.constantFrom('x', '[a]', 'limit', 'cursor', '__proto__', ''), anyText);
  const written = fc
    .array(fc.oneof(...pairs, other), { maxLength: 3 })
    .map((list) =>
      list
        .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`)
        .join('&'),
    );
  const raw = fc.constantFrom(
    '?',
    '?&&&',
    '?=',
    '?%',
    '?a=%ff',
    '?limit=1&limit=2',
    '?limit[]=1',
    '??',
    '?limit=5',
  );
  return fc.oneof(
    { arbitrary: fc.constant(''), weight: 3 },
    { arbitrary: written.map((text) => (text === '' ? '' : `?${text}`)), weight: 5 },
    { arbitrary: raw, weight: 1 },
  );
}

function headersOf(): Arbitrary<Record<string, string>> {
  const some = fc.constantFrom<Record<string, string>>(
    { 'x-request-id': 'trace-1' },
    { 'x-request-id': '<script>' },
    { 'idempotency-key': 'k' },
    { 'idempotency-key': 'again' },
    { 'idempotency-key': '' },
    { 'idempotency-key': 'x'.repeat(300) },
    { 'idempotency-key': 'with space' },
    { 'content-encoding': 'gzip' },
    { 'content-encoding': 'zstd' },
    { origin: 'https://elsewhere.example' },
    { 'sec-fetch-site': 'cross-site' },
    { accept: 'text/html' },
    { 'accept-language': 'x'.repeat(1000) },
    { range: 'bytes=5-1' },
    { 'if-match': '"x"' },
    { 'if-none-match': '*' },
    { 'accept-encoding': 'gzip;q=x' },
  );
  return mostly(fc.constant({}), some);
}

function bodyOf(schema: Schema, known: KnownThings): Arbitrary<Buffer> {
  const whole = valid(schema, known);
  const broken = fc
    .tuple(whole, fc.array(damage(), { minLength: 1, maxLength: 3 }))
    .map(([value, damages]) => damages.reduce<unknown>((object, hurt) => hurt(object), value));
  const encode = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? '');
  const raw = fc.constantFrom(
    ...[
      '',
      '[]',
      '{',
      'null',
      '"x"',
      '{"a":1e400}',
      '{"n":9007199254740993}',
      '{"a":1,"a":2}',
      '{"\\ud800":1}',
      '\u0000',
    ],
    `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
  );
  return fc.oneof(
    { arbitrary: whole.map(encode), weight: 5 },
    { arbitrary: broken.map(encode), weight: 5 },
    { arbitrary: raw.map((text) => Buffer.from(text)), weight: 1 },
    { arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
  );
}
