// Makes a JSON value that fits a simple JSON Schema: every property, and the least that each limit allows.

import { type Fields, isFields, objectsIn } from './requests.ts';

/** Below this depth optional parts are left out, so that a schema that contains itself comes to an end. */
const FULL_DEPTH_MAX = 5;
const DEPTH_MAX = 40;

const TEXT_BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T12:00:00Z',
  date: '2026-01-01',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'fox@example.com',
  hostname: 'example.com',
  uri: 'https://example.com/fox',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '5f0c4a8e-3a52-4d3b-9d0e-7b1f6c2d8e90',
};
const TEXT = 'fox';

/** Ignores patterns, conditions and negations; returns null for a schema without a type. */
export function exampleOf(schema: unknown): unknown {
  return example(isFields(schema) ? schema : {}, isFields(schema) ? schema : {}, 0);
}

function example(schema: Fields, root: Fields, depth: number): unknown {
  if (depth > DEPTH_MAX) return null;
  const next = (part: Fields): unknown => example(part, root, depth + 1);
  const { const: fixed, enum: values, anyOf, oneOf, allOf, $ref: reference } = schema;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(values)) return values[0] ?? null;
  if (typeof reference === 'string') return next(partAt(root, reference));
  const options = objectsIn(anyOf ?? oneOf);
  if (options.length > 0) return next(choose(options, depth));
  if (Array.isArray(allOf)) return next(Object.assign({}, ...objectsIn(allOf)));
  switch (typeOf(schema)) {
    case 'object':
      return exampleObject(schema, depth, next);
    case 'array':
      return Array.from({ length: lengthOf(schema, depth) }, () =>
        next(isFields(schema['items']) ? schema['items'] : {}),
      );
    case 'string':
      return exampleText(schema);
    case 'integer':
      return exampleNumber(schema, 1);
    case 'number':
      return exampleNumber(schema, 0.5);
    case 'boolean':
      return true;
    default:
      return null;
  }
}

function exampleObject(schema: Fields, depth: number, next: (part: Fields) => unknown): unknown {
  const properties = isFields(schema['properties']) ? Object.entries(schema['properties']) : [];
  const { required } = schema;
  const isWanted = (name: string): boolean =>
    depth < FULL_DEPTH_MAX || (Array.isArray(required) && required.includes(name));
  return Object.fromEntries(
    properties
      .filter(([name]) => isWanted(name))
      .map(([name, part]) => [name, next(isFields(part) ? part : {})]),
  );
}

function exampleText(schema: Fields): string {
  const text = TEXT_BY_FORMAT[String(schema['format'])] ?? TEXT;
  const length = Math.max(text.length, numberAt(schema, 'minLength') ?? 0);
  return text.padEnd(length, 'x').slice(0, numberAt(schema, 'maxLength') ?? length);
}

function exampleNumber(schema: Fields, step: number): number {
  const above = numberAt(schema, 'exclusiveMinimum');
  const below = numberAt(schema, 'exclusiveMaximum');
  const least = numberAt(schema, 'minimum') ?? (above === null ? null : above + step);
  const most = numberAt(schema, 'maximum') ?? (below === null ? null : below - step);
  const value = least ?? Math.min(step, most ?? step);
  const multiple = numberAt(schema, 'multipleOf');
  return multiple === null ? value : Math.ceil(value / multiple) * multiple;
}

function lengthOf(schema: Fields, depth: number): number {
  const least = numberAt(schema, 'minItems') ?? 0;
  const most = numberAt(schema, 'maxItems') ?? Number.POSITIVE_INFINITY;
  return Math.min(most, depth < FULL_DEPTH_MAX ? Math.max(1, least) : least);
}

function choose(options: Fields[], depth: number): Fields {
  const empty = options.find((option) => option['type'] === 'null');
  return (depth < FULL_DEPTH_MAX ? options[0] : (empty ?? options[0])) ?? {};
}

function typeOf({ type, properties, items }: Fields): unknown {
  if (type !== undefined) return Array.isArray(type) ? type[0] : type;
  if (properties !== undefined) return 'object';
  return items === undefined ? undefined : 'array';
}

/** Resolves a reference within the schema, such as `#/$defs/step`; an empty schema for any other. */
function partAt(root: Fields, reference: string): Fields {
  let part: unknown = root;
  for (const name of reference.split('/').slice(1)) {
    part = isFields(part) ? part[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  }
  return isFields(part) ? part : {};
}

function numberAt(schema: Fields, name: string): number | null {
  const value = schema[name];
  return typeof value === 'number' ? value : null;
}
