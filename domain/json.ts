// The type of a value that JSON can carry, and the bound of its nesting.

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/** Deepest nesting of what is passed on: far more than any answer has. */
const LEVELS_MAX = 100;

/** Whether a value is nested so deeply that writing it as JSON may exceed the stack; reading it does not. */
export function isTooDeep(value: unknown, levels: number = LEVELS_MAX): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const name in value) if (isTooDeep(Reflect.get(value, name), levels - 1)) return true;
  return false;
}
