// Values that a JSON schema allows, and broken ones, for generated requests.
import fc, { type Arbitrary } from 'fast-check';

// oxlint-disable-next-line typescript/no-explicit-any -- JSON Schema, read by its keys
export type Schema = any;

/** Ids that exist: a request with one of them gets further than one with a random id. */
export interface KnownThings {
  /** Ids by the part of the path before them, such as `tasks`. */
  ids: Readonly<Record<string, readonly string[]>>;
  /** Values by field name. */
  values: Readonly<Record<string, readonly unknown[]>>;
}

/** Removes, replaces or adds a field. */
export function damage(): Arbitrary<(value: unknown) => unknown> {
  return fc
    .record({ kind: fc.constantFrom('drop', 'replace', 'add'), which: fc.nat(20), junk: junk() })
    .map(({ kind, which, junk }) => (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null) return junk;
      const names = Object.keys(value);
      const name = names[which % Math.max(1, names.length)] ?? 'x';
      if (kind === 'add') return { ...value, [`extra${which}`]: junk };
      const { [name]: _dropped, ...rest } = value as Record<string, unknown>;
      return kind === 'drop' ? rest : { ...rest, [name]: junk };
    });
}

export const JUNK_TEXTS = [
  '',
  ' ',
  '\0',
  '\ud800',
  '🐱',
  '../..',
  '<b>',
  "' or 1=1 --",
  '[masked]',
  'x'.repeat(3000),
];

export const anyText = fc.oneof(fc.constantFrom(...JUNK_TEXTS), fc.string({ unit: 'binary', maxLength: 20 }));

function junk(): Arbitrary<unknown> {
  const numbers = [-1, 0, -0, 0.5, 1.0000001, 1e21, 1e308, 2 ** 53 + 2, -(2 ** 53), 1e-7, Number.MIN_VALUE];
  const nested = [[], {}, [[]], [null], [{}], { a: { b: { c: [] } } }, Array(200).fill('x')];
  return fc.oneof(
    fc.constantFrom<unknown>(null, true, ...numbers, ...JUNK_TEXTS, ...nested),
    fc.jsonValue(),
    anyText,
  );
}

/** A value that the schema allows, often at its bounds; fields in `known` mostly get a known value. */
export function valid(schema: Schema, known: KnownThings = { ids: {}, values: {} }): Arbitrary<unknown> {
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return fc.oneof(...choices.map((choice: Schema) => valid(choice, known)));
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return validObject(schema, known);
    case 'array':
      return fc.array(valid(schema.items ?? {}, known), { minLength: schema.minItems ?? 0, maxLength: 4 });
    case 'integer':
    case 'number':
      return validNumber(schema);
    case 'string':
      return validText(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return junk();
  }
}

function validObject({ properties = {}, required = [] }: Schema, known: KnownThings): Arbitrary<unknown> {
  const fields = Object.entries<Schema>(properties).map(([name, schema]) => {
    const values = known.values[name];
    const any = valid(schema, known);
    return [name, values ? mostly(fc.constantFrom(...values), any) : any] as const;
  });
  return fc.record<Record<string, unknown>>(Object.fromEntries(fields), { requiredKeys: required });
}

function validNumber({ minimum = -1e9, maximum = 1e9 }: Schema): Arbitrary<number> {
  const bounds = [minimum, maximum, 0, 1].filter((value) => value >= minimum && value <= maximum);
  return fc.oneof(fc.constantFrom(...bounds), fc.integer({ min: minimum, max: Math.min(maximum, 2 ** 31) }));
}

function validText({ format, minLength = 0, maxLength = 300, enum: values }: Schema): Arbitrary<string> {
  if (values) return fc.constantFrom(...values);
  if (format === 'date-time')
    return fc.constantFrom('2030-01-31T12:00:00Z', '9999-12-31T23:59:59.999Z', '2000-01-01T00:00:00+14:00');
  const longest = Math.min(maxLength, 3000);
  return fc.oneof(
    fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(longest, 40) }),
    fc.constantFrom('x'.repeat(minLength), 'x'.repeat(longest)),
  );
}

export function mostly<Usual, Other>(
  usual: Arbitrary<Usual>,
  other: Arbitrary<Other>,
): Arbitrary<Usual | Other> {
  return fc.oneof({ arbitrary: usual, weight: 10 }, { arbitrary: other, weight: 1 });
}
