// Reads requests to vendor APIs (API key, JSON object, form) and refuses those that are not valid.

import { EarlyAnswer } from './answers.ts';
import type { ErrorDetails, SandboxRequest } from './vendor-api.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Ends the request with an error in the vendor's format. */
export function refuse(request: SandboxRequest, status: number, details?: ErrorDetails): never {
  throw new EarlyAnswer(request.errorFormat.refuse(status, details));
}

/** Accepts every key but an empty one and one that contains `invalid`. */
export function requireKey(request: SandboxRequest, key: string | null): void {
  if (key === null || key === '') refuse(request, 401, { message: 'No API key was provided.' });
  if (key.includes('invalid')) refuse(request, 401);
}

export function requireBearerKey(request: SandboxRequest): void {
  requireKey(request, bearerKey(request));
}

/** Null without a bearer key. */
export function bearerKey(request: SandboxRequest): string | null {
  return /^Bearer +(\S+)$/i.exec(request.req.headers.authorization ?? '')?.[1] ?? null;
}

export function readJsonObject(request: SandboxRequest): Fields {
  const fields = parseJson(request.body.toString('utf8'));
  if (isFields(fields)) return fields;
  return refuse(request, 400, { message: 'The body of the request is not a JSON object.' });
}

export function isForm(request: SandboxRequest): boolean {
  return request.req.headers['content-type']?.startsWith('multipart/form-data') ?? false;
}

export async function readForm(request: SandboxRequest): Promise<FormData> {
  const headers = { 'content-type': request.req.headers['content-type'] ?? '' };
  try {
    return await new Response(new Uint8Array(request.body), { headers }).formData();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse(request, 400, { message: 'The multipart form cannot be read.' });
  }
}

/** The field's text; empty for anything but a text. */
export function textIn(fields: Fields, field: string): string {
  const value = fields[field];
  return typeof value === 'string' ? value : '';
}

/** Length of a prompt as vendors count it: an emoji is one character. */
export function countCodePoints(text: string): number {
  return Array.from(text).length;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Elements of a list that are objects; empty for anything but a list. */
export function objectsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
