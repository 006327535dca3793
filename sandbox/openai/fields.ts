// Checks of the fields of an OpenAI order, with OpenAI's messages and codes. Null counts as absent.

import { type Fields, isFields, refuse } from '../requests.ts';
import type { SandboxRequest } from '../vendor-api.ts';

type Kind = 'boolean' | 'string' | 'object';

export function refuseField(request: SandboxRequest, field: string, message: string, code?: string): never {
  refuse(request, 400, { field, message, ...(code !== undefined && { code }) });
}

export function refuseAbsent(request: SandboxRequest, field: string): never {
  return refuseField(request, field, `Missing required parameter: '${field}'.`, 'missing_required_parameter');
}

export function refuseType(request: SandboxRequest, field: string, expected: string, value: unknown): never {
  const message = `Invalid type for '${field}': expected ${expected}, but got ${nameType(value)} instead.`;
  return refuseField(request, field, message, 'invalid_type');
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function checkKind(request: SandboxRequest, fields: Fields, field: string, kind: Kind): void {
  const value = fields[field];
  if (isAbsent(value)) return;
  const fits = kind === 'object' ? isFields(value) : typeof value === kind;
  if (!fits) refuseType(request, field, kind === 'object' ? 'an object' : `a ${kind}`, value);
}

export function requireText(request: SandboxRequest, field: string, value: unknown): string {
  if (isAbsent(value)) refuseAbsent(request, field);
  return typeof value === 'string' ? value : refuseType(request, field, 'a string', value);
}

/** Null where the value is absent. */
export function oneOf<Value extends string>(
  request: SandboxRequest,
  field: string,
  value: unknown,
  values: readonly Value[],
): Value | null {
  if (isAbsent(value)) return null;
  const known = values.find((candidate) => candidate === value);
  if (known !== undefined) return known;
  const supported = values.map((candidate) => `'${candidate}'`).join(', ');
  const message = `Invalid value: ${JSON.stringify(value)}. Supported values are: ${supported}.`;
  return refuseField(request, field, message, 'invalid_value');
}

/** Null where the value is absent. */
export function numberIn(
  request: SandboxRequest,
  fields: Fields,
  field: string,
  range: { min: number; max: number; kind: 'integer' | 'decimal' },
): number | null {
  const value = fields[field];
  const { min, max, kind } = range;
  if (isAbsent(value)) return null;
  if (typeof value !== 'number' || (kind === 'integer' && !Number.isInteger(value))) {
    return refuseType(request, field, kind === 'integer' ? 'an integer' : 'a decimal', value);
  }
  if (value >= min && value <= max) return value;
  const [side, bound] = value < min ? ['below_min', `>= ${min}`] : ['above_max', `<= ${max}`];
  const words = side === 'below_min' ? 'below minimum value' : 'above maximum value';
  const message = `Invalid '${field}': ${kind} ${words}. Expected a value ${bound}, but got ${value} instead.`;
  return refuseField(request, field, message, `${kind}_${side}_value`);
}

function nameType(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (isAbsent(value)) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
