/** What dialects ask of the fields of an order; each answers with the value, or refuses the request naming the field. */

import { EarlyAnswer } from './answers.ts';
import type { SandboxRequest } from './dialect.ts';
import type { Fields } from './requests.ts';

export function refuseField(request: SandboxRequest, field: string, message: string): never {
  throw new EarlyAnswer(request.voice.refuse(400, { field, message }));
}

export function refuseUnknown(
  request: SandboxRequest,
  fields: Fields,
  known: readonly string[],
  within = '',
): void {
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined) refuseField(request, `${within}${unknown}`, `Unknown field: ${unknown}.`);
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
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  return refuseField(request, field, `${field} must be a whole number from ${min} to ${max}.`);
}

export function requireText(
  request: SandboxRequest,
  field: string,
  value: unknown,
  charactersMax: number,
): string {
  if (typeof value !== 'string' || value.trim() === '')
    return refuseField(request, field, `${field} is required.`);
  if (value.length <= charactersMax) return value;
  return refuseField(request, field, `${field} is longer than ${charactersMax} characters.`);
}

/** On one machine, the links of whoever orders may be without TLS; a vendor would never see such. */
export function isHttpsUrl(value: unknown): boolean {
  return typeof value === 'string' && /^(https:\/\/|http:\/\/(127\.0\.0\.1|localhost)[:/])/.test(value);
}

export function isImageDataUri(value: unknown): boolean {
  return typeof value === 'string' && /^data:image\/[\w.+-]+;base64,/.test(value);
}

export function isBareBase64(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(value);
}
