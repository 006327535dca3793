// Reads and checks what callers send (bodies, queries, ids), and throws errors that name the field.
import { z } from 'zod';
import { ID_BODY_PATTERN, isId } from '../../db/ids.ts';
import type { IdPrefix } from '../../domain/ids.ts';
import { parseCredits } from '../../domain/credits.ts';
import { GatewayError, type ErrorCode } from '../../domain/errors.ts';

const INSTANT_CHARACTERS_MAX = 40;
const FILTER_CHARACTERS_MAX = 200;
/** Pattern of a character that trimming leaves. Written out: `\\S` is another set in other languages. */
export const NOT_BLANK = String.raw`[^\t\n\u000B\f\r \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]`;
/** How a message names a type of JSON. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
};
/** How a message counts what has a length. */
const LENGTH_UNITS: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' };
/** The last instant whose ISO text has four digits for the year. */
const INSTANT_MAX_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
/** The error of an id that is unknown, another user's or malformed, by the prefix of the id. */
const NOT_FOUND = {
  task: 'task_not_found',
  rdm: 'redeem_code_not_found',
  file: 'file_not_found',
  key: 'not_found',
  ses: 'not_found',
  usr: 'not_found',
  whk: 'not_found',
} as const satisfies Partial<Record<IdPrefix, ErrorCode>>;

/** Parses a body. An absent field is `missing_field`, everything else about a field is `invalid_value`. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body, { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw explain(parsed.error, body);
}

/**
 * Parses query parameters. Throws for one that stands twice or holds a NUL, which PostgreSQL could not store.
 */
export function readQuery<Schema extends z.ZodType>(
  schema: Schema,
  query: URLSearchParams,
): z.output<Schema> {
  const parameters: Record<string, string> = {};
  for (const [name, value] of query) {
    if (Object.hasOwn(parameters, name))
      throw new GatewayError('invalid_value', { param: name, message: `${name} may stand once.` });
    if (`${name}${value}`.includes('\0'))
      throw new GatewayError('invalid_value', { message: 'A query parameter holds a NUL character.' });
    parameters[name] = value;
  }
  return readBody(schema, parameters);
}

/** Schema of a file in a form, as the document shows it. */
export function fileOfForm(description: string) {
  return z.string().meta({ contentMediaType: 'application/octet-stream', minLength: 1, description });
}

/** Schema of a whole number in a query. */
export function queryInteger(min: number, max: number, fallback: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(fallback)
    .meta({ type: 'integer', pattern: undefined, minimum: min, maximum: max, default: fallback });
}

/**
 * Schema of a point in time with its offset. A date that no calendar has is refused, not moved to the next
 * month.
 */
export function isoInstant() {
  const message = 'must be a full ISO 8601 time with an offset, such as 2030-01-31T12:00:00Z';
  return z.iso
    .datetime({ offset: true, error: message })
    .max(INSTANT_CHARACTERS_MAX, message)
    .transform((text) => new Date(text))
    .refine((instant) => instant.getTime() <= INSTANT_MAX_MS, message);
}

/** Schema of an id of this kind in a query or a body. */
export function idText(prefix: IdPrefix) {
  return idOr(prefix, `must be an id, such as ${prefix}_…`);
}

/** Schema of an id of this kind, with the message for everything else. */
export function idOr(prefix: IdPrefix, message: string) {
  return z
    .string()
    .refine((text) => isId(prefix, text), message)
    .meta({ pattern: `^${prefix}_${ID_BODY_PATTERN}$` });
}

/** The query fields of a period: from one time on, before the other. The texts say what holds without. */
export function periodQuery(withoutFrom = '', withoutTo = '') {
  return {
    from: isoInstant()
      .optional()
      .describe(`From this time on: ISO 8601 with an offset. ${withoutFrom}`.trim()),
    to: isoInstant().optional().describe(`Before this time. ${withoutTo}`.trim()),
  };
}

/** Schema of a filter by a text that stands in the rows, such as the id of a model. */
export function filterText() {
  return z.string().max(FILTER_CHARACTERS_MAX).optional();
}

/** Schema of an ISO instant with an offset that lies in the future. */
export function futureInstant() {
  return isoInstant().refine((instant) => instant.getTime() > Date.now(), 'must be in the future');
}

/** Schema of an amount of credits, as a JSON number from 0 to `max`, read exactly. */
export function creditAmount(max: number) {
  const message = `must be a number of credits from 0 to ${max} with at most 6 decimals`;
  return z
    .number(message)
    .min(0, message)
    .max(max, message)
    .refine((credits) => /^\d+(\.\d{1,6})?$/.test(String(credits)), message)
    .transform((credits) => parseCredits(credits));
}

/** Schema of an amount of credits above 0, otherwise as `creditAmount`. */
export function positiveCredits(max: number) {
  return creditAmount(max)
    .refine((amount) => amount > 0n, 'must be more than 0')
    .meta({ exclusiveMinimum: 0, minimum: undefined });
}

/** Schema of a text of 1 to `charactersMax` characters, counted as code points after trimming. */
export function shortText(charactersMax: number) {
  return z
    .string()
    .trim()
    .refine(
      (text) => text !== '' && [...text].length <= charactersMax,
      `must have 1 to ${charactersMax} characters`,
    )
    .meta({ minLength: 1, maxLength: charactersMax, pattern: NOT_BLANK });
}

/** Schema of one word of a list. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, `must be one of ${words.join(', ')}`);
}

/** Reads the parameter `id` of a path. Throws the same 404 for a malformed id as for an unknown one. */
export function readId(kind: keyof typeof NOT_FOUND, params: Readonly<Record<string, string>>): string {
  const id = params['id'] ?? '';
  if (!isId(kind, id)) throw new GatewayError(NOT_FOUND[kind]);
  return id;
}

/** Says what a field of the wrong type or length must be, unless its schema has a sentence of its own. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    const name = TYPE_NAMES[issue.expected];
    return name && `must be ${name}`;
  }
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return undefined;
  const unit = LENGTH_UNITS[issue.origin];
  if (issue.code === 'too_small' && issue.minimum === 1) return unit && 'must not be empty';
  const bound = issue.code === 'too_big' ? `at most ${issue.maximum}` : `at least ${issue.minimum}`;
  return unit && `must have ${bound} ${unit}`;
}

function explain(error: z.ZodError, body: unknown): GatewayError {
  const issue = error.issues[0];
  if (!issue) return new GatewayError('invalid_request');
  if (issue.code === 'unrecognized_keys') {
    const param = [...issue.path, issue.keys[0] ?? ''].join('.');
    return new GatewayError('invalid_request', { param, message: `There is no field ${param}.` });
  }
  const param = writePath(issue.path);
  if (param === '') return new GatewayError('invalid_request');
  if (valueAt(body, issue.path) === undefined)
    return new GatewayError('missing_field', { param, message: `${param} is required.` });
  return new GatewayError('invalid_value', { param, message: `${param}: ${issue.message}.` });
}

function writePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((current, step) => {
    return typeof current === 'object' && current !== null ? Reflect.get(current, step) : undefined;
  }, value);
}
