// Judges answers by the OpenAPI document: whether the document promises them.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { ROUTES } from '../api/app.ts';
import { describeApi } from '../api/openapi/document.ts';
import { isObject, type JsonObject } from '../api/openapi/json-schema.ts';
import { ERRORS } from '../domain/errors.ts';
import type { JsonValue } from '../domain/json.ts';

export interface GivenAnswer {
  status: number;
  headers: { get(name: string): string | null };
  /** The parsed JSON body; null without one. */
  body: unknown;
}

/** A delivery as a receiver of webhooks got it. */
export interface GivenDelivery {
  headers: { get(name: string): string | null };
  /** The parsed JSON body. */
  body: unknown;
}

interface DescribedOperation {
  /** Name of the operation in the document: `GET /v1/models/{id}`. */
  name: string;
  method: string;
  pattern: RegExp;
  /** Pointer to the operation in the document. */
  pointer: string;
  operation: JsonObject;
}

/** Headers that an answer carries only where they are described; those of limits stand on most errors. */
const TOLD_HEADERS = [
  ...['accept-ranges', 'content-disposition', 'content-range', 'etag', 'location', 'set-cookie'],
  ...['idempotent-replayed', 'preference-applied', 'retry-after', 'www-authenticate', 'x-should-retry'],
  'x-ratelimit-backend',
];

/** The document, one per test process: it is the same for every gateway. */
export const DOCUMENT = describeApi(ROUTES);

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
addFormats.default(ajv);
ajv.addSchema(DOCUMENT, 'openapi');
const validators = new Map<string, ValidateFunction>();
const operations = readOperations();
const knownPaths = operations.map(({ pattern }) => pattern);

/** Throws, with every problem named, when an answer is not one that the document promises. */
export function expectDocumented(method: string, url: string, answer: GivenAnswer): void {
  const problems = findUndocumented(method, url, answer);
  if (problems.length > 0) expect.fail(problems.join('\n'));
}

/** Finds what is wrong with an answer, in sentences that name its route; empty when it is as promised. */
export function findUndocumented(method: string, url: string, answer: GivenAnswer): string[] {
  const path = url.replace(/[?#].*$/s, '');
  const verb = method.toUpperCase();
  const matching = operations.filter(({ pattern }) => pattern.test(path));
  // A path without parameters comes before one that has some, whatever the method (OpenAPI 3.1 §4.8.8.2).
  const concrete = matching.filter(({ name }) => name.endsWith(` ${path}`));
  const operation = (concrete.length > 0 ? concrete : matching).find(
    (one) => one.method === verb || (verb === 'HEAD' && one.method === 'GET'),
  );
  const place = `${operation?.name ?? `${method} ${path}`} → ${answer.status}`;
  const problems = operation
    ? judge(operation, answer, verb === 'HEAD')
    : judgeUnrouted(path, answer, verb === 'HEAD');
  return [...problems, ...(verb === 'HEAD' ? [] : judgeError(answer))].map(
    (problem) => `${place}: ${problem}`,
  );
}

/** Finds what is wrong with a delivery, as above. */
export function findUndocumentedDelivery({ headers, body }: GivenDelivery): string[] {
  const type = String(Object(body).type);
  const problems = judgeDelivery(type, headers, body);
  return problems.map((problem) => `${type}: ${problem}`);
}

function judgeDelivery(type: string, headers: GivenDelivery['headers'], body: unknown): string[] {
  const operation = Object(DOCUMENT.webhooks[type]?.post);
  if (!operation.parameters) return ['this event is not documented'];
  const described = operation.parameters.map(follow) as (JsonObject & { name: string })[];
  const named = Object.fromEntries(described.map((header) => [header.name, header]));
  const media = Object.keys(operation.requestBody.content);
  const contentType = headers.get('content-type')?.split(';')[0] ?? '';
  return [
    ...missingHeaders({ headers: named }, headers),
    ...(media.includes(contentType) ? [] : [`the content type ${contentType} is not documented`]),
    ...validate(`/webhooks/${type}/post/requestBody/content/application~1json/schema`, body),
  ];
}

function judge(described: DescribedOperation, answer: GivenAnswer, isHead: boolean): string[] {
  const { status, headers, body } = answer;
  const responses = objectIn(described.operation['responses']);
  // Responses that come before any route are written once, under `default`.
  const key = String(status) in responses ? String(status) : 'default';
  if (key === 'default' && status < 400) return ['this status is not documented'];
  const response = follow(responses[key]);
  const problems = [...missingHeaders(response, headers), ...untoldHeaders(response, headers)];
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
  if (isHead) return problems;
  if (!('content' in response)) return body === null ? problems : [...problems, 'no body is documented'];
  if (!(type in objectIn(response['content'])))
    return [...problems, `the content type ${type} is not documented`];
  if (type !== 'application/json') return problems;
  const from = referenceOf(responses[key]) ?? `${described.pointer}/responses/${key}`;
  return [...problems, ...validate(`${from}/content/application~1json/schema`, body)];
}

/**
 * Finds what is wrong with the answer to a path without a route, or to a method that the path does not
 * have.
 */
function judgeUnrouted(path: string, { status, headers, body }: GivenAnswer, isHead: boolean): string[] {
  const isKnown = knownPaths.some((pattern) => pattern.test(path));
  const allowed = isKnown ? [405] : [404];
  const problems = isHead ? [] : validate('/components/schemas/Error', body);
  if (!isBeforeRoute(status) && ![...allowed, 400, 503].includes(status))
    problems.push('nothing is documented here');
  if (status === 405 && headers.get('allow') === null) problems.push('Allow is missing');
  return problems;
}

function judgeError({ status, headers, body }: GivenAnswer): string[] {
  if (status < 400) return [];
  const { error } = (body ?? {}) as { error?: { code?: string; request_id?: string } };
  const entry = Object.entries(ERRORS).find(([code]) => code === error?.code)?.[1];
  const problems: string[] = [];
  if (entry?.status !== status) problems.push(`the code ${error?.code} does not belong to this status`);
  if (error?.request_id !== headers.get('x-request-id')) problems.push('request_id is not x-request-id');
  return problems;
}

function isBeforeRoute(status: number): boolean {
  return [408, 414, 417, 431].includes(status);
}

function missingHeaders(response: JsonObject, headers: GivenAnswer['headers']): string[] {
  return Object.entries(objectIn(response['headers'] ?? {})).flatMap(([name, header]) => {
    const { required, schema = {} } = follow(header);
    const value = headers.get(name);
    if (value === null) return required === true ? [`the header ${name} is missing`] : [];
    const described = objectIn(schema);
    const isNumber = described['type'] === 'integer';
    const isFit = ajv.validate(described, isNumber && /^-?\d+$/.test(value) ? Number(value) : value);
    return isFit ? [] : [`the header ${name} is ${value}: ${ajv.errorsText(ajv.errors)}`];
  });
}

function untoldHeaders(response: JsonObject, headers: GivenAnswer['headers']): string[] {
  const told = new Set(Object.keys(objectIn(response['headers'] ?? {})).map((name) => name.toLowerCase()));
  const untold = TOLD_HEADERS.filter((name) => headers.get(name) !== null && !told.has(name));
  return untold.map((name) => `the header ${name} is not documented`);
}

function validate(pointer: string, body: unknown): string[] {
  const validator = validators.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` });
  validators.set(pointer, validator);
  if (validator(body)) return [];
  return (validator.errors ?? []).map(({ instancePath, message, params }) => {
    return `body${instancePath} ${message} ${JSON.stringify(params)}`;
  });
}

/** Returns the value itself, or what it refers to. */
function follow(value: JsonValue | undefined): JsonObject {
  const steps = referenceOf(value)?.slice(1).split('/');
  if (steps === undefined) return objectIn(value);
  return steps.reduce<JsonObject>((found, step) => objectIn(found[step]), DOCUMENT);
}

/** The pointer that stands in the place of a value; null where the value itself does. */
function referenceOf(value: JsonValue | undefined): string | null {
  const { $ref } = objectIn(value);
  return typeof $ref === 'string' ? $ref.slice(1) : null;
}

function objectIn(value: JsonValue | undefined): JsonObject {
  if (!isObject(value))
    throw new Error(`the document has ${JSON.stringify(value)} in the place of an object`);
  return value;
}

/** Ids of models may have slashes. */
function idPattern(path: string): string {
  return path === '/v1/models/{id}' ? '.+' : '[^/]+';
}

function readOperations(): DescribedOperation[] {
  const found = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      // Matches as the router does: any case, a slash at the end or none.
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, idPattern(path))}/?$`, 'i'),
      pointer: `/paths/${path.replaceAll('/', '~1')}/${method}`,
      operation,
    })),
  );
  // A path without parameters precedes one with a parameter that would match it too.
  return found.sort((one, other) => one.name.split('{').length - other.name.split('{').length);
}
