// Converts zod schemas to JSON Schema 2020-12, with named schemas in `#/components/schemas`.
import { z } from 'zod';
import type { JsonValue } from '../../domain/json.ts';

export type JsonObject = { [name: string]: JsonValue };

/** Collects the schemas that have an id, by that id. */
export type NamedSchemas = Map<string, JsonObject>;

/**
 * Converts a schema; named ones are added to `named` and referred to. `input` is what callers may send,
 * before defaults and conversions; `output` is what they receive. Checks written as functions have no
 * counterpart in JSON Schema: where they matter, the description names them.
 */
export function writeSchema(schema: z.ZodType, io: 'input' | 'output', named: NamedSchemas): JsonObject {
  const written = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => tidy(jsonSchema, io),
  });
  const text = JSON.stringify(written).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $schema: _dialect, $defs: definitions, ...rest }: JsonObject = JSON.parse(text);
  if (isObject(definitions))
    for (const [name, definition] of Object.entries(definitions))
      if (isObject(definition)) named.set(name, definition);
  return rest;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Removes details of zod's output that are of no use to readers. What callers send is refused beyond the
 * whole numbers that JSON holds exactly, so those bounds stay there.
 */
function tidy(schema: { [name: string]: unknown }, io: 'input' | 'output'): void {
  delete schema['id']; // already the schema's name
  if (schema['format'] === 'date-time') delete schema['pattern'];
  if (schema['format'] === 'email') delete schema['pattern'];
  if (io === 'output' && schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (io === 'output' && schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  if (schema['propertyNames']) delete schema['propertyNames'];
}
