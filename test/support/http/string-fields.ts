// Finds the places in a JSON schema where a caller may put a text.
import type { Schema } from './generated-values.ts';

/** The way to a text: names of fields, 0 for the first entry of a list, `*` for a field of any name. */
export type FieldPath = readonly (string | number)[];

const DEPTH_MAX = 8;

/** All places of texts in a body, each once; also names of fields where any name is allowed. */
export function stringFieldsOf(schema: Schema): FieldPath[] {
  const found = new Map<string, FieldPath>();
  collect(schema, [], (path) => found.set(JSON.stringify(path), path));
  return [...found.values()];
}

/** The value with the text at that place; what is missing on the way is added. */
export function withText(value: unknown, [step, ...rest]: FieldPath, text: string): unknown {
  if (step === undefined) return text;
  const inner = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  if (typeof step === 'number') {
    const [, ...others] = Array.isArray(value) ? value : [];
    return [withText(inner, rest, text), ...others];
  }
  const fields = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  return { ...fields, [step]: withText(inner, rest, text) };
}

function collect(schema: Schema, path: FieldPath, add: (path: FieldPath) => void): void {
  if (typeof schema !== 'object' || schema === null || path.length > DEPTH_MAX) return;
  for (const choice of [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])])
    collect(choice, path, add);
  if (schema.type === 'string' || [schema.type].flat().includes('string')) add(path);
  for (const [name, member] of Object.entries(schema.properties ?? {})) collect(member, [...path, name], add);
  if (schema.items) collect(schema.items, [...path, 0], add);
  if (schema.type === 'object' && schema.additionalProperties !== false) add([...path, 'any']);
}
