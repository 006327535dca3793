/** What dialects read from requests: the key, a JSON object, a form. */

import { EarlyAnswer } from './answers.ts';
import type { SandboxRequest } from './dialect.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Any key is good, except one that says it is invalid. */
export function requireKey(request: SandboxRequest, key: string | undefined): void {
  if (key === undefined || key === '') {
    throw new EarlyAnswer(request.voice.refuse(401, { message: 'No API key was provided.' }));
  }
  if (key.includes('invalid')) throw new EarlyAnswer(request.voice.refuse(401));
}

export function bearerKey(request: SandboxRequest): string | undefined {
  return /^Bearer +(\S+)$/i.exec(request.req.headers.authorization ?? '')?.[1];
}

export function readJsonObject(request: SandboxRequest): Fields {
  const fields = parseJson(request.body.toString('utf8'));
  if (!isFields(fields)) {
    throw new EarlyAnswer(
      request.voice.refuse(400, { message: 'The body of the request is not a JSON object.' }),
    );
  }
  return fields;
}

export async function readForm(request: SandboxRequest): Promise<FormData> {
  const headers = { 'content-type': request.req.headers['content-type'] ?? '' };
  try {
    return await new Response(new Uint8Array(request.body), { headers }).formData();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new EarlyAnswer(request.voice.refuse(400, { message: 'The multipart form cannot be read.' }));
  }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
