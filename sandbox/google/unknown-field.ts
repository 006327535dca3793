// Google's wording of an error about a field that it does not know.

export function wordUnknownField(field: string): string {
  return `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`;
}
