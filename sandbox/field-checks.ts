// Checks of an order's fields; each returns the value, or refuses the request and names the field.

import { countCodePoints, type Fields, refuse } from './requests.ts';
import type { SandboxRequest } from './vendor-api.ts';

export function refuseField(request: SandboxRequest, field: string, message: string): never {
  refuse(request, 400, { field, message });
}

/** `prefix` precedes the field's name in the error, such as `settings.`. */
export function refuseUnknown(
  request: SandboxRequest,
  fields: Fields,
  known: readonly string[],
  prefix = '',
  wordUnknown = (field: string): string => `Unknown field: ${field}.`,
): void {
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined) refuseField(request, `${prefix}${unknown}`, wordUnknown(unknown));
}

export function requireOneOf(
  request: SandboxRequest,
  field: string,
  value: unknown,
  allowed: readonly string[],
): string {
  const found = allowed.find((candidate) => candidate === value);
  return found ?? refuseField(request, field, `${field} must be one of ${allowed.join(', ')}.`);
}

export function requireWhole(
  request: SandboxRequest,
  field: string,
  value: unknown,
  { min, max }: { min: number; max: number },
): number {
  if (isWholeWithin(value, min, max)) return value;
  return refuseField(request, field, `${field} must be a whole number from ${min} to ${max}.`);
}

/** Characters are code points: an emoji counts once. */
export function requireText(
  request: SandboxRequest,
  field: string,
  value: unknown,
  charactersMax: number,
): string {
  if (typeof value !== 'string' || value.trim() === '')
    return refuseField(request, field, `${field} is required.`);
  if (countCodePoints(value) <= charactersMax) return value;
  return refuseField(request, field, `${field} is longer than ${charactersMax} characters.`);
}

/** Of a text that may be absent. */
export function checkLength(
  request: SandboxRequest,
  field: string,
  value: unknown,
  charactersMax: number,
): void {
  if (value === undefined || (typeof value === 'string' && countCodePoints(value) <= charactersMax)) return;
  refuseField(request, field, `${field} must be a text of at most ${charactersMax} characters.`);
}

export function isWholeWithin(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

/** Accepts http on the local machine as well, where the gateway's links have no TLS; a vendor would not. */
export function isHttpsUrl(value: unknown): boolean {
  return typeof value === 'string' && /^(https:\/\/|http:\/\/(127\.0\.0\.1|localhost)[:/])/.test(value);
}

export function isImageDataUri(value: unknown): boolean {
  return typeof value === 'string' && /^data:image\/[\w.+-]+;base64,/.test(value);
}

export function isBareBase64(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(value);
}
